process GYRASE_CLASSIFY {
    tag "$meta.id"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container "${ workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container ?
        'https://depot.galaxyproject.org/singularity/gyrase:0.1.0--0':
        'quay.io/biocontainers/gyrase:0.1.0--0' }"

    input:
    tuple val(meta), path(reads)
    path database

    output:
    tuple val(meta), path("*.tsv.gz"),  emit: answers
    tuple val(meta), path("*.kreport"), emit: kreport
    tuple val(meta), path("*.html"),    emit: html
    tuple val(meta), path("*.json"),    emit: report
    tuple val("${task.process}"), val('gyrase'), eval("gyrase --version | cut -d ' ' -f 2"), topic: versions, emit: versions_gyrase

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    def memory = task.memory ? "--memory ${task.memory.toMega()}M" : ''
    """
    gyrase classify \\
        $args \\
        --db $database \\
        --output ${prefix}.tsv.gz \\
        --kreport ${prefix}.kreport \\
        --html ${prefix}.html \\
        --threads $task.cpus \\
        $memory \\
        --tmp . \\
        --report ${prefix}.json \\
        $reads
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    echo "" | gzip > ${prefix}.tsv.gz
    touch ${prefix}.kreport ${prefix}.html ${prefix}.json
    """
}
