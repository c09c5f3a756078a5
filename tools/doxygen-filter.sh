#!/usr/bin/env bash
# What doxygen 1.9.4 cannot read, made readable; the reference shows the same: doxygen-filter.sh FILE
case "$1" in
    # It knows no anchors of headings.
    *.md) sed -E 's/\[([^]]*)\]\(#[^)]*\)/\1/g' "$1" ;;
    # It stumbles over specialisations of other libraries' templates.
    *) sed -E '/^template <>$/{N;/\nstruct boost::/d}' "$1" ;;
esac
