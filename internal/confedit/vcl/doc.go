// Package vcl reads and edits Varnish's VCL and varnishd's arguments without
// touching a byte that an edit is not about.
//
// In: the main file's path, where included files are looked for, and functions
// that read files and expand globs; or a list of arguments. Out: the backends,
// probes, ACLs and subroutines with their properties, and after edits the new
// bytes of every file that changed. It writes nothing; the change stage does.
//
// The flow:
//
//  1. lex.go cuts text into tokens by the rules of Varnish's own lexer
//     (vcc_Lexer in lib/libvcc/vcc_token.c);
//  2. block.go finds what stands at the top level and the properties in it;
//  3. config.go follows includes;
//  4. marked.go adds code between comments by which it is found again;
//     splice.go is the one place that changes text: an edit that would make
//     other text read differently is undone;
//  5. plain.go gives a block's code without comments, strings and marked code,
//     to look for what it decides;
//  6. args.go reads and changes -p and -s in varnishd's arguments, words.go
//     keeps the bytes of a shell or unit line.
package vcl
