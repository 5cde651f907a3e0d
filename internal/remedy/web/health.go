package web

import (
	"fmt"
	"slices"
	"strings"

	"kasoku/internal/change"
	"kasoku/internal/confedit/nginx"
	"kasoku/internal/diagnose"
	"kasoku/internal/load"
	"kasoku/internal/remedy/planning"
)

// planHealthCheck lets nginx itself answer a health check whose answer is a
// constant, with the bytes that the application sends. The balancer then
// learns whether nginx lives, no longer whether the application does.
func planHealthCheck(in planning.Input, f diagnose.Finding) ([]planning.Plan, error) {
	path := f.Subject["path"]
	i := slices.IndexFunc(in.Evidence.Answers, func(a load.ConstantAnswer) bool { return a.Path == path })
	if i < 0 {
		return nil, fmt.Errorf("%s: its answer was not asked for, so it is not known to be a constant", path)
	}
	answer := in.Evidence.Answers[i]
	if why := cannotAnswer(answer, f.Subject["other"]); why != "" {
		return nil, fmt.Errorf("%s: %s", path, why)
	}
	changes, err := Edit(in, f.Service, change.Reload, f.Text, func(conf *nginx.Config, server *nginx.Directive) error {
		return answerItself(conf, server, answer)
	})
	if err != nil {
		return nil, err
	}
	return []planning.Plan{{ID: "nginx.health-check:" + f.Service + ":" + path, Changes: changes,
		Title: fmt.Sprintf("Let %s answer %s itself, unlogged", f.Service, path)}}, nil
}

// cannotAnswer says why nginx cannot send an answer as the application does.
func cannotAnswer(a load.ConstantAnswer, other string) string {
	switch {
	case other != "":
		return "it is asked for by other methods too: " + other
	case a.Varies != "":
		return "its answers differ: " + a.Varies
	case a.Status != 200 && a.Status != 204:
		return fmt.Sprintf("it answers with status %d", a.Status)
	case strings.ContainsAny(string(a.Body)+a.ContentType, "$\x00\r"):
		return "nginx cannot write its bytes as they are"
	case a.Status == 204 && len(a.Body) > 0:
		return "status 204 with a body"
	}
	for _, h := range a.Headers {
		if _, value, _ := strings.Cut(h, ": "); strings.ContainsAny(value, "$\r\n") {
			return "nginx cannot write its header " + h
		}
	}
	return ""
}

// answerItself adds an exact location, or lets one that is there return the
// answer before it passes the request on.
func answerItself(conf *nginx.Config, server *nginx.Directive, a load.ConstantAnswer) error {
	origin := nginx.MatchLocation(server, a.Path)
	at := origin
	if at == nil {
		at = server
	}
	// return is obeyed before access is checked (nginx development guide,
	// "HTTP phases": rewrite comes before access).
	for _, g := range guards {
		if d := at.Effective(g); d != nil {
			return fmt.Errorf("%s:%d: %s guards %s, which an answer of nginx's own would pass by", d.File.Path, d.Line, g, a.Path)
		}
	}
	text := ""
	for _, name := range []string{"add_header", "expires"} {
		if first := at.Effective(name); first != nil {
			for _, d := range first.Parent.Find(name) {
				if first.Parent == origin && exact(origin, a.Path) {
					continue // it stands there
				}
				text += line(d)
			}
		}
	}
	for _, h := range a.Headers {
		name, value, _ := strings.Cut(h, ": ")
		if !strings.Contains(text+own(origin), "add_header "+name+" ") {
			text += "    add_header " + name + " " + nginx.Quote(value) + ";\n"
		}
	}
	if a.Status == 200 {
		text += "    types { }\n    charset off;\n    default_type " + nginx.Quote(a.ContentType) + ";\n    return 200 " + quoted(string(a.Body)) + ";\n"
	} else {
		text += fmt.Sprintf("    return %d;\n", a.Status)
	}
	if exact(origin, a.Path) {
		if origin.First("return") != nil || origin.First("types") != nil {
			return fmt.Errorf("location %s has a return or types of its own", strings.Join(origin.Args, " "))
		}
		if err := SetDirective(origin, "access_log", "off"); err != nil {
			return err
		}
		return origin.Append(text)
	}
	return server.Append("location = " + nginx.Quote(a.Path) + " {\n    access_log off;\n" + text + "}")
}

// quoted writes text in quotes, empty text too.
func quoted(s string) string {
	if q := nginx.Quote(s); strings.HasPrefix(q, `"`) {
		return q
	}
	return `"` + s + `"`
}

func exact(loc *nginx.Directive, path string) bool {
	return loc != nil && slices.Equal(loc.Args, []string{"=", path})
}

// own are the add_header lines of a location.
func own(loc *nginx.Directive) string {
	out := ""
	if loc != nil {
		for _, d := range loc.Find("add_header") {
			out += line(d)
		}
	}
	return out
}

func line(d *nginx.Directive) string {
	out := "    " + d.Name
	for _, a := range d.Args {
		out += " " + nginx.Quote(a)
	}
	return out + ";\n"
}
