//! FASTA and FASTQ files, pipes and byte ranges, in any compression, to and from batches of reads
