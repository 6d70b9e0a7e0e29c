"""Does `gen-bundle power` foretell what the final report then finds?"""
