package web

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/diagnose"
	"kasoku/internal/regulation"
	"kasoku/internal/remedy/planning"
)

// gzipTypes are texts that web applications send beside text/html, which nginx
// compresses without being told and refuses to be told twice about.
var gzipTypes = []string{"text/plain", "text/css", "text/xml", "text/javascript", "application/javascript", "application/x-javascript",
	"application/json", "application/manifest+json", "application/xml", "application/rss+xml", "application/atom+xml", "image/svg+xml"}

const (
	// gzipLevel: of jQuery's 290 KB, level 1 leaves 36 %, 4 leaves 31 %, 6 and
	// 9 leave 29 %, for 1, 1.3, 2.8 and 5 times the CPU (gzip -1 … -9 of the
	// jquery.js in Debian's libjs-jquery).
	gzipLevel = "4"
	// gzipLeast: a shorter answer fits into one packet anyway.
	gzipLeast = "1024"
)

// planGzip compresses text for clients that ask for it. Others get the same
// bytes as before.
func planGzip(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	var trades []regulation.Trade
	title := "Compress text that " + f.Service + " sends"
	changes, err := Edit(in, f.Service, change.Reload, f.Text, func(conf *nginx.Config, server *nginx.Directive) error {
		where := levelOf(server, "gzip")
		on := diagnose.OnOff(server, "gzip", false)
		if encrypted(server) || !on && slices.ContainsFunc(where.Find("server"), encrypted) {
			// The length of a compressed answer tells of secrets in it
			// (BREACH; nginx manual, ngx_http_gzip_module).
			trades = append(trades, regulation.Security)
		}
		sets := [][]string{{"gzip", "on"}, {"gzip_vary", "on"}, {"gzip_proxied", "any"}, {"gzip_comp_level", gzipLevel}, {"gzip_min_length", gzipLeast},
			append([]string{"gzip_types"}, textTypes(in)...)}
		if on {
			// On for text/html alone, or for a few types: how well and for whom is
			// somebody's choice, and stays. It stands in the server, since others
			// may be encrypted.
			have := diagnose.GzipTypes(server)
			types := slices.Clone(have)
			for _, t := range textTypes(in) {
				if !slices.Contains(types, t) {
					types = append(types, t)
				}
			}
			title = "Compress more than the types that " + f.Service + " compresses"
			if err := SetDirective(server, "gzip_vary", "on"); err != nil {
				return err
			}
			return SetDirective(server, "gzip_types", types...)
		}
		if diagnose.Precompressed(in.Snapshot) && slices.Contains(in.Snapshot.Nginx[f.Service].Modules, diagnose.GzipStatic) {
			sets = append(sets, []string{"gzip_static", "on"})
			title += ", with the .gz files that lie beside it"
		}
		if diagnose.HasBrotli(in.Snapshot, conf, f.Service) {
			sets = append(sets, []string{"brotli", "on"}, []string{"brotli_comp_level", gzipLevel}, []string{"brotli_min_length", gzipLeast}, append([]string{"brotli_types"}, textTypes(in)...))
			title += ", by brotli where the client takes it"
		}
		for _, s := range sets {
			if err := setWhere(server, where, s[0], s[1:]...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "nginx.gzip:" + f.Service, Title: title, Trades: trades, Changes: changes}}, nil
}

// brotliMost: from here on brotli takes more CPU than gzip of the same level. Of
// the jquery.js above, brotli 1 leaves 33 %, 4 leaves 30 %, 6 leaves 27 %, for
// 0.7, 1.8 and 3.4 times the CPU of gzip 1; gzip 4 takes 1.5 times, 6 takes 4
// (libbrotlienc 1.0.9 with nginx's window, zlib 1.2.13).
const brotliMost = 4

// planBrotli compresses by brotli what gzip compresses, for clients that take it.
// It stands in the server itself: others may have gzip off for a reason, as
// locations may.
func planBrotli(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	var trades []regulation.Trade
	changes, err := Edit(in, f.Service, change.Reload, f.Text, func(_ *nginx.Config, server *nginx.Directive) error {
		if encrypted(server) {
			// Unlike gzip it compresses what a proxy asks for, too (gzip_proxied
			// is off by default), and so tells more than before (BREACH).
			trades = append(trades, regulation.Security)
		}
		level, least := 1, gzipLeast // nginx's default
		if d := server.Effective("gzip_comp_level"); d != nil && len(d.Args) == 1 {
			n, err := strconv.Atoi(d.Args[0])
			if err != nil {
				return fmt.Errorf("gzip_comp_level of %s: %w", f.Service, err)
			}
			level = min(n, brotliMost)
		}
		if d := server.Effective("gzip_min_length"); d != nil && len(d.Args) == 1 {
			least = d.Args[0]
		}
		sets := [][]string{{"brotli", "on"}, {"brotli_comp_level", strconv.Itoa(level)}, {"brotli_min_length", least}, {"gzip_vary", "on"}}
		if types := diagnose.GzipTypes(server); len(types) > 0 {
			sets = append(sets, append([]string{"brotli_types"}, types...))
		}
		// What blocks inside say of gzip themselves holds for brotli as well.
		var own []*nginx.Directive
		server.Walk(func(d *nginx.Directive) bool {
			if d.IsBlock && d != server {
				own = append(own, d)
			}
			return true
		})
		for _, d := range own {
			for _, name := range []string{"", "_types", "_min_length"} {
				of := d.First("gzip" + name)
				if of == nil || d.First("brotli"+name) != nil {
					continue
				}
				if err := SetDirective(d, "brotli"+name, of.Args...); err != nil {
					return err
				}
			}
		}
		for _, s := range sets {
			if err := SetDirective(server, s[0], s[1:]...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "nginx.brotli:" + f.Service, Title: "Compress text that " + f.Service + " sends by brotli where the client takes it", Trades: trades, Changes: changes}}, nil
}

// planGzipStatic sends the .gz beside a file to clients that take it.
func planGzipStatic(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	changes, err := Edit(in, f.Service, change.Reload, f.Text, func(_ *nginx.Config, server *nginx.Directive) error {
		return setWhere(server, levelOf(server, "gzip"), "gzip_static", "on")
	})
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "nginx.gzip-static:" + f.Service, Title: "Send the .gz files that lie beside those of " + f.Service, Changes: changes}}, nil
}

// levelOf is the block whose directive applies at server, http if none does.
func levelOf(server *nginx.Directive, name string) *nginx.Directive {
	if d := server.Effective(name); d != nil && d.Parent.Name != "" {
		return d.Parent
	}
	return server.Parent
}

// setWhere changes the directive that applies at server, or adds it to block.
func setWhere(server, block *nginx.Directive, name string, args ...string) error {
	if d := server.Effective(name); d != nil {
		return SetDirective(d.Parent, name, args...)
	}
	return SetDirective(block, name, args...)
}

func encrypted(server *nginx.Directive) bool {
	return slices.ContainsFunc(server.Find("listen"), func(l *nginx.Directive) bool { return nginx.Encrypted(server, l) })
}

// textTypes are gzipTypes and what else of text was sampled.
func textTypes(in planning.Input) []string {
	out := slices.Clone(gzipTypes)
	for _, a := range in.Evidence.Load.Assets {
		kind, _, _ := strings.Cut(a.ContentType, ";")
		kind = strings.ToLower(strings.TrimSpace(kind))
		if diagnose.IsText(kind) && kind != "text/html" && !slices.Contains(out, kind) {
			out = append(out, kind)
		}
	}
	return out
}

// planTokens leaves the version out of answers.
func planTokens(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	changes, err := Edit(in, f.Service, change.Reload, f.Text, func(_ *nginx.Config, server *nginx.Directive) error {
		return setWhere(server, server.Parent, "server_tokens", "off")
	})
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "nginx.tokens:" + f.Service, Title: "Leave the version out of " + f.Service + "'s answers", Changes: changes}}, nil
}
