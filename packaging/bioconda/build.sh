#!/usr/bin/env bash
# Builds and installs the package of Bioconda: the program, its manual pages, its completions.
set -euo pipefail

cargo-bundle-licenses --format yaml --output THIRDPARTY.yml
cargo install --no-track --locked --profile dist --root "$PREFIX" --path crates/gyrase

# What is built for another processor cannot be asked for its pages here.
if [[ "${CONDA_BUILD_CROSS_COMPILATION:-0}" != 1 ]]; then
  mkdir -p "$PREFIX"/share/{man/man1,bash-completion/completions,zsh/site-functions,fish/vendor_completions.d}
  "$PREFIX/bin/gyrase" man --all "$PREFIX/share/man/man1"
  "$PREFIX/bin/gyrase" completions bash > "$PREFIX/share/bash-completion/completions/gyrase"
  "$PREFIX/bin/gyrase" completions zsh > "$PREFIX/share/zsh/site-functions/_gyrase"
  "$PREFIX/bin/gyrase" completions fish > "$PREFIX/share/fish/vendor_completions.d/gyrase.fish"
fi
