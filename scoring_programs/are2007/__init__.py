"""ARE, the Anaphora Resolution Exercise of DAARC 2007: four tasks on pronouns and coreferential chains."""
