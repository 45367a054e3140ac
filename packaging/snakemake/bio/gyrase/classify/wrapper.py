"""Runs `gyrase classify` for a rule of Snakemake."""

from snakemake.shell import shell

log = snakemake.log_fmt_shell(stdout=False, stderr=True)
extra = snakemake.params.get("extra", "")
memory = snakemake.resources.get("mem_mb")
memory = f"--memory {memory}M" if memory else ""
REPORTS = ["kreport", "html", "mpa", "cami", "taxpasta", "bracken", "evidence"]
reports = " ".join(
    f"--{report} {snakemake.output[report]}"
    for report in REPORTS
    if snakemake.output.get(report)
)

shell(
    "gyrase classify"
    " {extra}"
    " {memory}"
    " {reports}"
    " --threads {snakemake.threads}"
    " --tmp {snakemake.resources.tmpdir}"
    " --db {snakemake.input.database}"
    " --output {snakemake.output.answers}"
    " {snakemake.input.reads}"
    " {log}"
)
