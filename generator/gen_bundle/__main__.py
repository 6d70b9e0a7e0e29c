"""`python -m gen_bundle`: the command where `gen-bundle` is not on the path."""

from gen_bundle.cli import main

if __name__ == "__main__":
    main()
