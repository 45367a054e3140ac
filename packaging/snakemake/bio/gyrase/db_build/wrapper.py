"""Runs `gyrase db build` for a rule of Snakemake."""

from snakemake.shell import shell

log = snakemake.log_fmt_shell(stdout=False, stderr=True)
extra = snakemake.params.get("extra", "")
memory = snakemake.resources.get("mem_mb")
memory = f"--memory {memory}M" if memory else ""
maps = snakemake.input.get("map", [])
maps = [maps] if isinstance(maps, str) else maps
tables = " ".join(f"--map {table}" for table in maps)

shell(
    "gyrase db build"
    " {extra}"
    " {memory}"
    " {tables}"
    " --threads {snakemake.threads}"
    " --tmp {snakemake.resources.tmpdir}"
    " --taxonomy {snakemake.input.taxonomy}"
    " --output {snakemake.output}"
    " {snakemake.input.references}"
    " {log}"
)
