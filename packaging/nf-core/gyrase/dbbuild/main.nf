process GYRASE_DBBUILD {
    tag "$meta.id"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container "${ workflow.containerEngine == 'singularity' && !task.ext.singularity_pull_docker_container ?
        'https://depot.galaxyproject.org/singularity/gyrase:0.1.0--0':
        'biocontainers/gyrase:0.1.0--0' }"

    input:
    tuple val(meta), path(references)
    path taxonomy
    path map

    output:
    tuple val(meta), path("*.gydb"), emit: database
    tuple val(meta), path("*.json"), emit: report
    path "versions.yml", emit: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    def memory = task.memory ? "--memory ${task.memory.toGiga()}G" : ''
    def tables = map ? map.collect { table -> "--map $table" }.join(' ') : ''
    """
    gyrase db build \\
        $args \\
        --taxonomy $taxonomy \\
        $tables \\
        --output ${prefix}.gydb \\
        --threads $task.cpus \\
        $memory \\
        --tmp . \\
        --report ${prefix}.json \\
        $references

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        gyrase: \$(gyrase --version | cut -d ' ' -f 2)
    END_VERSIONS
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch ${prefix}.gydb ${prefix}.json

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        gyrase: \$(gyrase --version | cut -d ' ' -f 2)
    END_VERSIONS
    """
}
