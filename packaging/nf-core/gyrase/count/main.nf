process GYRASE_COUNT {
    tag "$meta.id"
    label 'process_medium'

    conda "${moduleDir}/environment.yml"
    container "${ workflow.containerEngine == 'singularity' && !task.ext.singularity_pull_docker_container ?
        'https://depot.galaxyproject.org/singularity/gyrase:0.1.0--0':
        'biocontainers/gyrase:0.1.0--0' }"

    input:
    tuple val(meta), path(reads)

    output:
    tuple val(meta), path("*.gyk"),   emit: database
    tuple val(meta), path("*.histo"), emit: histogram
    tuple val(meta), path("*.json"),  emit: report
    path "versions.yml", emit: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    def memory = task.memory ? "--memory ${task.memory.toGiga()}G" : ''
    """
    gyrase count \\
        $args \\
        --output ${prefix}.gyk \\
        --histo ${prefix}.histo \\
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
    touch ${prefix}.gyk ${prefix}.histo ${prefix}.json

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        gyrase: \$(gyrase --version | cut -d ' ' -f 2)
    END_VERSIONS
    """
}
