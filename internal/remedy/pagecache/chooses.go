package pagecache

import (
	"fmt"
	"regexp"
	"slices"

	"kasoku/internal/confedit/vcl"
)

// deciding is code by which a VCL decides more than what is kept.
type deciding struct {
	code *regexp.Regexp // as vcl.Plain has it: one space between tokens
	what string
}

// choosing is looked for everywhere: where a request goes, and for whom.
var choosing = []deciding{
	{regexp.MustCompile(`\bbackend_hint\b|\bset req\.(?:url|method)\b`), "decides where a request goes"},
	{regexp.MustCompile(`\b(?:client\.(?:ip|identity)|remote\.ip|server\.ip|local\.(?:ip|endpoint|socket))\b`), "decides by addresses"},
}

// elsewhere are Varnish's subroutines that run as well for a page that is looked
// up or passed on, or at no request (vcl-step manual). All others may be called
// from vcl_recv, as vcl_req_authorization is from the built-in one.
var elsewhere = []string{"vcl_hash", "vcl_hit", "vcl_miss", "vcl_pass", "vcl_pipe", "vcl_purge", "vcl_deliver", "vcl_synth",
	"vcl_backend_fetch", "vcl_backend_response", "vcl_backend_refresh", "vcl_backend_error", "vcl_init", "vcl_fini"}

// unread is code whose decisions are not known here.
var unread = []deciding{
	{regexp.MustCompile(`\binclude\b`), "includes what is not read here"},
	{regexp.MustCompile(`C\{ \}C`), "does what is not known here"},
}

// admitting is looked for everywhere else. Names of headers know no case, and may be written as strings.
var admitting = slices.Concat([]deciding{
	{regexp.MustCompile(`\breturn \( (?:synth|vcl|pipe|fail|restart|connect)\b`), "decides who is answered"},
	{regexp.MustCompile(`~ [A-Za-z]\S*`), "asks a list of addresses"},
	{regexp.MustCompile(`(?i)\breq\.http\.(?:authorization|forwarded|[\w-]*forwarded-for|[\w-]+-ip) (?:= =|! =|! ~|~)|! req\.http\.authorization\b`), "decides by who asks"},
	{regexp.MustCompile(`\b(?:set|unset) req\.http\.\S*`), "changes what the application is told of a request"},
}, unread)

// keeping is looked for where answers come in: it would run behind what is
// written at the beginning of vcl_backend_response, and lengthen what that keeps,
// or keep what that does not. That does not return instead, because all else
// there is to go on for kept pages: headers that are taken off or that a ban
// goes by, ESI, and beresp.uncacheable, by which less is kept.
var keeping = slices.Concat([]deciding{
	{regexp.MustCompile(`\bset beresp\.(?:ttl|grace|keep) `), "sets for how long answers are kept"},
	{regexp.MustCompile(`(?i)\b(?:set|unset) beresp\.http\.(?:vary|set-cookie|cache-control|surrogate-control)? `), "changes what tells which answers are kept, and for whom"},
}, unread)

// tidied are headers that a VCL may change without a difference for pages that
// are kept: who sends a cookie is passed on, Varnish writes Accept-Encoding
// itself, and the others say how to send a page, not which.
var tidied = regexp.MustCompile(`(?i)^(?:set|unset) req\.http\.(?:cookie|accept-encoding|cache-control|pragma|if-[a-z-]+|range)$`)

// Chooses refuses a VCL whose own decisions a page that is looked up at the
// beginning of vcl_recv would not meet: they stand behind it.
func Chooses(conf *vcl.Config) error {
	for _, b := range conf.Blocks("sub") {
		looked := choosing
		if !slices.Contains(elsewhere, b.Name) {
			looked = slices.Concat(choosing, admitting)
		}
		if err := without(b, looked, "and kept pages would be sent before that; keep pages by hand where it is decided"); err != nil {
			return err
		}
	}
	return nil
}

// keepsItself refuses a VCL that decides by itself for how long, and for whom,
// answers are kept: pages could become older than they may.
func keepsItself(conf *vcl.Config) error {
	for _, b := range conf.Blocks("sub") {
		if b.Name != "vcl_backend_response" && slices.Contains(elsewhere, b.Name) {
			continue
		}
		if err := without(b, keeping, "after the limit for kept pages would be set; keep pages by hand there"); err != nil {
			return err
		}
	}
	return nil
}

// without refuses a subroutine that holds code of a list.
func without(b *vcl.Block, looked []deciding, why string) error {
	code := b.Plain()
	for _, d := range looked {
		for _, at := range code.Find(d.code) {
			if !tidied.MatchString(at.Text) {
				return fmt.Errorf("%s:%d: sub %s %s (%s), %s", b.File.Path, at.Line, b.Name, d.what, at.Text, why)
			}
		}
	}
	return nil
}
