//! Headers: which sequences are the one of a number, and their taxids.

use super::ber::{FIELD, SEQUENCE, Value, Values};

/// What stands between the titles of sequences that are one.
const BETWEEN: u8 = 1;

/// The identifiers that a sequence may have (`seqloc.asn`: `Seq-id`), by the place of their tag.
const LOCAL: u8 = FIELD;
const GENERAL: u8 = FIELD + 10;
const GI: u8 = FIELD + 11;
const PDB: u8 = FIELD + 14;
/// Those that have an accession and a version: GenBank, EMBL, PIR, SwissProt, RefSeq, DDBJ, PRF,
/// third parties.
const WITH_ACCESSION: [u8; 10] = [4, 5, 6, 7, 9, 12, 13, 15, 16, 17];

/// Of these, the ones that may have a name alone.
const PIR: u8 = 6;
const PRF: u8 = 13;

/// The database of identifiers that stand for numbers of sequences.
const NUMBERS: &[u8] = b"BL_ORD_ID";

/// The titles of a sequence, and their taxids.
#[derive(Default)]
pub(crate) struct Titles {
    /// Name, a space and the description of each, with a byte 1 between two.
    pub text: Vec<u8>,
    /// Each once, in the order of the titles.
    pub taxids: Vec<u32>,
}

impl Titles {
    /// Reads the header of the sequence of a number.
    pub fn read(&mut self, header: &[u8], number: usize) -> Result<(), String> {
        self.text.clear();
        self.taxids.clear();
        let lines = next(&mut Values::new(header), SEQUENCE)?;
        let mut lines = lines.values();
        while let Some(line) = lines.next()? {
            if !self.text.is_empty() {
                self.text.push(BETWEEN);
            }
            self.add(&line, number)?;
        }
        Ok(())
    }

    fn add(&mut self, line: &Value, number: usize) -> Result<(), String> {
        let (mut title, mut name): (&[u8], Option<(u8, Vec<u8>)>) = (b"", None);
        let mut fields = line.values();
        while let Some(field) = fields.next()? {
            match field.tag {
                FIELD => title = field.inner()?.text()?,
                0xa1 => name = best_name(&field)?,
                0xa2 => {
                    let taxid = field.inner()?.number()?;
                    let taxid = u32::try_from(taxid).map_err(|_| format!("taxid {taxid}"))?;
                    if taxid > 0 && !self.taxids.contains(&taxid) {
                        self.taxids.push(taxid);
                    }
                }
                _ => {}
            }
        }
        match name {
            // The title is the whole line of the file that the database was made of.
            Some((_, name)) if name.is_empty() => self.text.extend(title),
            Some((_, name)) => self.join(&name, title),
            None => self.join(format!("BL_ORD_ID:{number}").as_bytes(), title),
        }
        Ok(())
    }

    fn join(&mut self, name: &[u8], title: &[u8]) {
        self.text.extend(name);
        if !title.is_empty() {
            self.text.push(b' ');
            self.text.extend(title);
        }
    }
}

fn next<'a>(values: &mut Values<'a>, tag: u8) -> Result<Value<'a>, String> {
    match values.next()? {
        Some(value) if value.tag == tag => Ok(value),
        Some(value) => Err(format!(
            "a header has tag {:#04x} for {tag:#04x}",
            value.tag
        )),
        None => Err("a header is empty".into()),
    }
}

/// The name by the best of a line's identifiers, with its rank, the smallest first; empty for the
/// number of a sequence, nothing where none is known.
fn best_name(field: &Value) -> Result<Option<(u8, Vec<u8>)>, String> {
    let mut best: Option<(u8, Vec<u8>)> = None;
    let mut ids = field.inner()?.values();
    while let Some(id) = ids.next()? {
        let found = named(&id)?;
        if let Some(found) = found.filter(|found| best.as_ref().is_none_or(|best| found.0 < best.0))
        {
            best = Some(found);
        }
    }
    Ok(best)
}

/// The name of an identifier, as `blastdbcmd` writes it.
fn named(id: &Value) -> Result<Option<(u8, Vec<u8>)>, String> {
    let place = id.tag.wrapping_sub(FIELD);
    Ok(match id.tag {
        _ if WITH_ACCESSION.contains(&place) => {
            accession(place, &id.inner()?)?.map(|name| (0, name))
        }
        PDB => Some((1, chain(&id.inner()?)?)),
        LOCAL => Some((2, object(&id.inner()?)?)),
        GENERAL => Some((3, general(&id.inner()?)?)),
        GI => Some((4, format!("gi|{}", id.inner()?.number()?).into_bytes())),
        _ => None,
    })
}

/// Accession and version; where there is no accession the name, as PIR and PRF have it.
fn accession(place: u8, id: &Value) -> Result<Option<Vec<u8>>, String> {
    let (mut name, mut accession, mut version) = (None, None, None);
    let mut fields = id.values();
    while let Some(field) = fields.next()? {
        match field.tag {
            FIELD => name = Some(field.inner()?.text()?),
            0xa1 => accession = Some(field.inner()?.text()?),
            0xa3 => version = Some(field.inner()?.number()?),
            _ => {}
        }
    }
    let before: &[u8] = match place {
        PIR => b"pir||",
        PRF => b"prf||",
        _ => b"",
    };
    Ok(match (accession, version) {
        (Some(text), Some(version)) => Some([text, format!(".{version}").as_bytes()].concat()),
        (Some(text), None) => Some(text.to_vec()),
        (None, _) => name.map(|name| [before, name].concat()),
    })
}

/// A number or a text.
fn object(field: &Value) -> Result<Vec<u8>, String> {
    let inner = field.inner()?;
    match field.tag {
        FIELD => Ok(inner.number()?.to_string().into_bytes()),
        _ => Ok(inner.text()?.to_vec()),
    }
}

/// A database and a name in it.
fn general(id: &Value) -> Result<Vec<u8>, String> {
    let mut fields = id.values();
    let database = next(&mut fields, FIELD)?.inner()?.text()?;
    let tag = object(&next(&mut fields, FIELD + 1)?.inner()?)?;
    if database == NUMBERS {
        return Ok(Vec::new());
    }
    Ok([database, b":", &tag].concat())
}

/// A structure and its chain.
fn chain(id: &Value) -> Result<Vec<u8>, String> {
    let mut name = Vec::new();
    let mut chain = None;
    let mut fields = id.values();
    while let Some(field) = fields.next()? {
        match field.tag {
            FIELD => name.extend(field.inner()?.text()?),
            0xa1 if chain.is_none() => {
                let letter = field.inner()?.number()?;
                chain = u8::try_from(letter).ok().map(|letter| vec![letter]);
            }
            0xa3 => chain = Some(field.inner()?.text()?.to_vec()),
            _ => {}
        }
    }
    if let Some(chain) = chain {
        name.push(b'_');
        name.extend(chain);
    }
    Ok(name)
}
