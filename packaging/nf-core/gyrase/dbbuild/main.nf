process GYRASE_DBBUILD {
    tag "$meta.id"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container "${ workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container ?
        'https://depot.galaxyproject.org/singularity/gyrase:0.1.0--0':
        'quay.io/biocontainers/gyrase:0.1.0--0' }"

    input:
    tuple val(meta), path(references)
    path taxonomy
    path map

    output:
    tuple val(meta), path("*.gydb"), emit: database
    tuple val(meta), path("*.json"), emit: report
    tuple val("${task.process}"), val('gyrase'), eval("gyrase --version | cut -d ' ' -f 2"), topic: versions, emit: versions_gyrase

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    def memory = task.memory ? "--memory ${task.memory.toMega()}M" : ''
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
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch ${prefix}.gydb ${prefix}.json
    """
}
