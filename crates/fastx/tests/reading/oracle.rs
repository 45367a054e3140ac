//! The formats written down once more, as plainly as possible: whole files, line by line.

/// Name, letters, qualities.
pub type Record = (Vec<u8>, Vec<u8>, Vec<u8>);

/// All records of a text, or nothing when it is malformed.
pub fn parse(text: &[u8]) -> Option<Vec<Record>> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let text = text.trim_ascii_start();
    match text.first() {
        None => Some(Vec::new()),
        Some(b'>' | b';') => fasta(text),
        Some(b'@') => fastq(text),
        Some(_) => None,
    }
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    text.split(|&byte| byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .collect()
}

fn are_letters(letters: &[u8]) -> bool {
    let protein = letters
        .iter()
        .filter(|letter| b"EFIJLOPQZefijlopqz".contains(letter))
        .count();
    letters
        .iter()
        .all(|letter| letter.is_ascii_alphabetic() || b"-.*".contains(letter))
        && protein * 10 <= letters.len()
}

fn fasta(text: &[u8]) -> Option<Vec<Record>> {
    let mut records: Vec<Record> = Vec::new();
    for line in lines(text) {
        // White space before the first header means nothing.
        let line = if records.is_empty() {
            line.trim_ascii_start()
        } else {
            line
        };
        match (line.first(), records.last_mut()) {
            (Some(b'>'), _) => records.push((line[1..].to_vec(), Vec::new(), Vec::new())),
            (Some(b';'), _) => {}
            (_, Some(record)) => record
                .1
                .extend(line.iter().filter(|byte| !byte.is_ascii_whitespace())),
            (_, None) if line.trim_ascii().is_empty() => {}
            (_, None) => return None,
        }
    }
    records
        .iter()
        .all(|record| are_letters(&record.1))
        .then_some(records)
}

fn fastq(text: &[u8]) -> Option<Vec<Record>> {
    let mut lines = lines(text).into_iter().peekable();
    let mut records = Vec::new();
    loop {
        while lines.next_if(|line| line.trim_ascii().is_empty()).is_some() {}
        let Some(header) = lines.next() else { break };
        let name = header.trim_ascii_start().strip_prefix(b"@")?;
        let mut letters = Vec::new();
        let mut count = 0;
        while let Some(line) = lines.next_if(|line| !line.starts_with(b"+")) {
            if line.starts_with(b"@") {
                return None;
            }
            letters.extend_from_slice(line);
            count += 1;
        }
        lines.next()?;
        let mut qualities = Vec::new();
        let mut quality_lines = 0;
        while qualities.len() < letters.len() {
            qualities.extend_from_slice(lines.next()?);
            quality_lines += 1;
        }
        if letters.is_empty() {
            lines.next_if(|line| line.is_empty());
        }
        let next_is_fine = lines
            .peek()
            .is_none_or(|line| line.trim_ascii().is_empty() || line.starts_with(b"@"));
        let same =
            qualities.len() == letters.len() && (count != 1 || quality_lines == 1 || next_is_fine);
        if !same
            || !are_letters(&letters)
            || !qualities.iter().all(|byte| (33..=126).contains(byte))
        {
            return None;
        }
        records.push((name.to_vec(), letters, qualities));
    }
    Some(records)
}
