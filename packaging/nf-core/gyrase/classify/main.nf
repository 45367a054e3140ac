process GYRASE_CLASSIFY {
    tag "$meta.id"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container "${ workflow.containerEngine == 'singularity' && !task.ext.singularity_pull_docker_container ?
        'https://depot.galaxyproject.org/singularity/gyrase:0.1.0--0':
        'biocontainers/gyrase:0.1.0--0' }"

    input:
    tuple val(meta), path(reads)
    path database

    output:
    tuple val(meta), path("*.tsv.gz"),  emit: answers
    tuple val(meta), path("*.kreport"), emit: kreport
    tuple val(meta), path("*.html"),    emit: html
    tuple val(meta), path("*.json"),    emit: report
    path "versions.yml", emit: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    def memory = task.memory ? "--memory ${task.memory.toGiga()}G" : ''
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

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        gyrase: \$(gyrase --version | cut -d ' ' -f 2)
    END_VERSIONS
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    echo | gzip > ${prefix}.tsv.gz
    touch ${prefix}.kreport ${prefix}.html ${prefix}.json

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        gyrase: \$(gyrase --version | cut -d ' ' -f 2)
    END_VERSIONS
    """
}
