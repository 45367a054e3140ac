"""Runs `gyrase count` for a rule of Snakemake."""

from snakemake.shell import shell

log = snakemake.log_fmt_shell(stdout=False, stderr=True)
extra = snakemake.params.get("extra", "")
memory = snakemake.resources.get("mem_mb")
memory = f"--memory {memory}M" if memory else ""
histogram = snakemake.output.get("histogram")
histogram = f"--histo {histogram}" if histogram else ""

shell(
    "gyrase count"
    " {extra}"
    " {memory}"
    " {histogram}"
    " --threads {snakemake.threads}"
    " --tmp {snakemake.resources.tmpdir}"
    " --output {snakemake.output.database}"
    " {snakemake.input}"
    " {log}"
)
