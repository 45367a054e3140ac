//! The shell of a page: one file that needs no network, and forbids itself any.

use std::fmt::{self, Write as _};
use std::io::{self, Write};

use crate::svg::escape;

/// Nothing may be loaded but what stands in the page.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                      img-src data: blob:; base-uri 'none'; form-action 'none'";

/// Appends a line.
pub fn put_line(body: &mut String, text: fmt::Arguments) {
    body.write_fmt(text).expect("a String takes every text");
    body.push('\n');
}

/// An HTML page: style, header, body, data as JSON in elements of class `data`, a script that reads
/// them.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// Title and first heading; any text.
    pub title: &'a str,
    /// CSS.
    pub style: &'a str,
    /// HTML behind the heading, with the end of the element `header` that it stands in.
    pub body: &'a str,
    /// JavaScript.
    pub script: &'a str,
}

impl Page<'_> {
    /// Writes the page with one element of `data`. Fails as `out` and `data` do.
    pub fn write(
        &self,
        out: &mut dyn Write,
        data: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        self.begin(out)?;
        Page::data(out, data)?;
        self.end(out)
    }

    /// The texts of its elements `style` and `script`: what a policy by digests lets pass.
    pub fn inline(&self) -> [String; 2] {
        [self.style, self.script].map(|text| format!("\n{text}"))
    }

    /// Writes what stands before the data, where these come one after the other. Fails as `out`
    /// does.
    pub fn begin(&self, out: &mut dyn Write) -> io::Result<()> {
        let (title, style) = (escape(self.title), self.style);
        out.write_all(b"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")?;
        writeln!(
            out,
            "<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n\
             <header>\n<h1>{title}</h1>"
        )?;
        out.write_all(self.body.as_bytes())
    }

    /// Writes an element of data: JSON without any `<`, so that no text in it can end the element.
    /// Fails as `out` and `json` do.
    pub fn data(
        out: &mut dyn Write,
        json: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        writeln!(out, "<script type=\"application/json\" class=\"data\">")?;
        json(out)?;
        writeln!(out, "</script>")
    }

    /// Writes what stands behind the data. Fails as `out` does.
    pub fn end(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "<script>\n{}</script>\n</body>\n</html>", self.script)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_has_its_place() {
        let page = Page {
            title: "a<b",
            style: "p {}\n",
            body: "</header>\n",
            script: "go();\n",
        };
        let mut html = Vec::new();
        page.write(&mut html, |out| out.write_all(b"[1]\n"))
            .unwrap();
        let html = String::from_utf8(html).unwrap();
        assert!(html.contains("default-src 'none';"));
        assert_eq!(html.matches("a&lt;b").count(), 2);
        let end = "<h1>a&lt;b</h1>\n</header>\n<script type=\"application/json\" class=\"data\">\n\
                   [1]\n</script>\n<script>\ngo();\n</script>\n</body>\n</html>\n";
        assert!(html.ends_with(end), "{html}");
    }
}
