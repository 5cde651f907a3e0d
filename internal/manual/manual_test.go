package manual

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

type read struct {
	Paths []string `arg:"" optional:"" help:"Logs."`
	Kind  string   `enum:"auto,slow" default:"auto" help:"What it is."`
	Rate  string   `short:"r" placeholder:"N/s" env:"TOOL_RATE" help:".5 of it's 100%."`
	Spy   bool     `hidden:"" help:"secret"`
}

func (read) Help() string {
	return "Reads `logs` and\nsums them up.\n\nExamples:\n  tool read --kind 'a\\n' ~/x\n  .tool read\n\n'Quoted' at last."
}

type line struct {
	File string `short:"f" help:"The file."`
	Read read   `cmd:"" help:"Read logs."`
	Set  struct {
		Up struct{} `cmd:"" help:"Up."`
	} `cmd:"" help:"Sets."`
	Agent struct{} `cmd:"" hidden:"" help:"secret"`
}

func program(t *testing.T) *Program {
	t.Helper()
	parser, err := kong.New(&line{}, kong.Name("tool"), kong.Description("Tool does it.\n\nExamples:\n  tool read"))
	if err != nil {
		t.Fatal(err)
	}
	return &Program{Model: parser.Model, Version: "1.2", Date: "2026-11-28", Exit: "0 done; 1 failure.", Files: "tool.yaml is read."}
}

// shown is a page as groff sets it for a terminal; groff has no complaint.
func shown(t *testing.T, p *Program, page Page) string {
	t.Helper()
	var text bytes.Buffer
	if err := p.Write(&text, page); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("groff", "-man", "-Tascii", "-P-c", "-P-b", "-P-u", "-ww")
	cmd.Stdin = &text
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil || errs.Len() > 0 {
		t.Errorf("%s: %v %s", page.Name, err, errs.String())
	}
	return out.String()
}

// Every command has a page; what is hidden is on none.
func TestPages(t *testing.T) {
	p := program(t)
	var names []string
	for _, page := range p.Pages() {
		names = append(names, page.Name)
		if strings.Contains(shown(t, p, page), "secret") {
			t.Errorf("%s tells what is hidden", page.Name)
		}
	}
	if got := strings.Join(names, " "); got != "tool tool-read tool-set tool-set-up" {
		t.Errorf("pages %s", got)
	}
}

// A page shows what the help text holds, letter for letter where roff has a meaning
// of its own for it, and examples as they would be typed.
func TestPageOfACommand(t *testing.T) {
	p := program(t)
	got := shown(t, p, p.Pages()[1])
	for _, want := range []string{
		"TOOL-READ(1)", "tool-read - Read logs\n", "tool read [<paths> ...] [flags]",
		"Reads `logs` and sums them up.", "           tool read --kind 'a\\n' ~/x\n           .tool read\n", "'Quoted' at last.",
		"[<paths> ...]\n              Logs.", "--kind=\"auto\"", "One of: auto, slow.",
		"-r, --rate=N/s\n              .5 of it's 100%. The environment's TOOL_RATE does the same.",
		"0 done; 1 failure.", "SEE ALSO\n       tool(1)", "2026-11-28", "tool 1.2",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %q:\n%s", want, got)
		}
	}
	if got := shown(t, p, p.Pages()[0]); !strings.Contains(got, "tool-read(1)\n              Read logs.") || !strings.Contains(got, "FILES\n       tool.yaml is read.") {
		t.Errorf("the program's page:\n%s", got)
	}
}
