sub vcl_init {
    # By default, matches are case-sensitive, and overlapping
    # prefixes are permitted.
    new myset = selector.set();
    # ...

    # For case-insensitive matching.
    new caseless = selector.set(case_sensitive=false);
    # ...

    # Forbid overlapping prefixes.
    new allunique = selector.set(allow_overlaps=false);
    # ...
}
