// Command kasoku makes a web service faster by itself and proves it. One file
// per command; the work is in internal/.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"kasoku/internal/host"
	"kasoku/internal/ui"
	"kasoku/lab"
)

// Version is set by the build.
var Version = "dev"

// CLI is the command line.
type CLI struct {
	File    string `short:"f" default:"kasoku.yaml" env:"KASOKU_FILE" help:"The stack to work on." placeholder:"FILE"`
	JSON    bool   `help:"Print the result as JSON on standard output; progress goes to standard error."`
	Quiet   bool   `short:"q" help:"No progress."`
	NoColor bool   `help:"No colour (also: NO_COLOR in the environment)."`
	Debug   bool   `env:"KASOKU_DEBUG" help:"Tell each command that is run on a host, and each file that is written there, on standard error."`

	Init     InitCmd     `cmd:"" help:"Find the services on this machine and write kasoku.yaml."`
	Check    CheckCmd    `cmd:"" help:"Say which rights are lacking, and what is left out without them."`
	Load     LoadCmd     `cmd:"" help:"Put load on a URL or run a scenario; needs no kasoku.yaml."`
	Run      RunCmd      `cmd:"" help:"Make one measured run."`
	Diagnose DiagnoseCmd `cmd:"" help:"Say what the bottleneck is and what removing it could bring at most."`
	Tune     TuneCmd     `cmd:"" help:"Make the service faster, unattended."`
	Plan     PlanCmd     `cmd:"" help:"Show what would be tried, as diffs and commands; change nothing."`
	Try      TryCmd      `cmd:"" help:"Judge one change that somebody made."`
	Prove    ProveCmd    `cmd:"" help:"Check that the regulation holds: stale or other answers, lost writes, reboots."`
	Compare  CompareCmd  `cmd:"" help:"Judge two versions of an application."`
	MCP      MCPCmd      `cmd:"" name:"mcp" help:"Let a coding agent ask and, if allowed, try (Model Context Protocol)."`
	Capacity CapacityCmd `cmd:"" help:"Say how many hosts carry a load, with an interval."`
	Serve    ServeCmd    `cmd:"" help:"Show sessions, runs and the journal in a browser, live."`
	Undo     UndoCmd     `cmd:"" help:"Put kept changes back."`
	Recover  RecoverCmd  `cmd:"" help:"Put back what an interrupted Kasoku left behind."`
	Verify   VerifyCmd   `cmd:"" help:"Check that the target still matches the journal."`
	History  HistoryCmd  `cmd:"" help:"List sessions, steps and journal entries."`
	Show     ShowCmd     `cmd:"" help:"Show one run, step or journal entry."`
	Report   ReportCmd   `cmd:"" help:"Write the report of a session."`
	Export   ExportCmd   `cmd:"" help:"Write the kept changes as files, SQL and commands."`
	Digest   DigestCmd   `cmd:"" help:"Sum up access logs by route or slow query logs by statement; needs no kasoku.yaml."`
	Where    WhereCmd    `cmd:"" help:"Find the file, line and function in which a statement is made."`
	Patch    PatchCmd    `cmd:"" help:"Write changes of source that save statements and work, as commits on a branch."`
	Scenario ScenarioCmd `cmd:"" help:"Work on scenario files."`
	Schema   SchemaCmd   `cmd:"" help:"Print the JSON Schema of kasoku.yaml or of a scenario, for editors."`
	Lab      LabCmd      `cmd:"" help:"Disposable Linux hosts on this machine, to try Kasoku on."`
	Guard    GuardCmd    `cmd:"" hidden:"" help:"The host's own revert; Kasoku starts it."`
	Version  VersionCmd  `cmd:"" help:"Print the version."`

	Accelerator AcceleratorCmd `cmd:"" help:"Answer the reads of a Go service from memory: add the library, learn its rules."`

	Completion CompletionCmd `cmd:"" help:"Print a script that completes commands and flags in bash, zsh or fish."`
	Man        ManCmd        `cmd:"" help:"Print manual pages, in roff."`
	Agent      AgentCmd      `cmd:"" hidden:"" help:"What runs on a target host."`
}

// exitCodes is printed below every help text.
const exitCodes = `
Exit codes: 0 done; 1 failure; 2 wrong use; 3 bad input (kasoku.yaml, scenario);
4 target unreachable or not permitted; 5 another Kasoku works here; 6 recovery
needed; 10 no difference; 11 regressed; 12 inconclusive; 13 wrong answers;
14 refused, because it touches what judges it; 15 a regulation check failed;
130 interrupted (the target has been put back).
`

// start is what somebody reads who types the name alone.
const start = `Kasoku makes a web service faster by itself, proves it, and can put everything back.

  kasoku init                 find the services on this machine, write kasoku.yaml
  kasoku run                  measure under load: where the time goes, what limits it
  kasoku tune --budget 30m    try one remedy after another, keep what is proved better
  kasoku report               what was kept, why, and what it brought
  kasoku undo --all           everything as it was

  kasoku --help               all commands and exit codes
  kasoku COMMAND --help       what one does, with examples
`

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main with its surroundings passed in.
func run(args []string, stdout, stderr io.Writer) int {
	if status, ok := lab.Helper(args); ok {
		return status
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	defer heedPipes()()
	stdout, stderr = piped(stdout, leave), piped(stderr, leave)
	var cli CLI
	code, exited := 0, false
	parser, err := commandLine(&cli, stdout, stderr, kong.BindTo(ctx, (*context.Context)(nil)), kong.Exit(func(c int) { code, exited = c, true }))
	if err != nil {
		fmt.Fprintln(stderr, err)
		return ui.Failure
	}
	if len(args) == 0 {
		fmt.Fprint(stderr, start)
		return ui.Usage
	}
	switch args[0] { // as people try it
	case "--version":
		args = append([]string{"version"}, args[1:]...)
	case "help":
		args = append(args[1:len(args):len(args)], "--help")
	}
	k, err := parser.Parse(args)
	if exited {
		return code
	}
	if err != nil {
		fmt.Fprintf(stderr, "error: %v\n  try: %s --help\n", err, commandOf(err))
		return ui.Usage
	}
	if cli.Debug {
		host.Debug(slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelDebug})))
		defer host.Debug(nil)
	}
	app := newApp(&cli, stdout, stderr)
	err = k.Run(app)
	return app.exit(ctx, err)
}

// commandLine reads commands, flags and arguments into cli.
func commandLine(cli *CLI, stdout, stderr io.Writer, more ...kong.Option) (*kong.Kong, error) {
	return kong.New(cli, append([]kong.Option{kong.Name("kasoku"),
		kong.Description("Kasoku finds what holds a web service back, changes one thing, proves it by interleaved runs, and keeps it or puts everything back.\n\n" +
			"Examples:\n  kasoku init\n  kasoku tune --budget 30m\n  kasoku report -o report.html"),
		kong.UsageOnError(), kong.Writers(stdout, stderr),
		kong.Vars{"lab_packages": strings.Join(lab.DefaultPackages, ",")},
		kong.Help(func(o kong.HelpOptions, k *kong.Context) error {
			if err := kong.DefaultHelpPrinter(o, k); err != nil {
				return err
			}
			_, err := fmt.Fprint(k.Stdout, exitCodes)
			return err
		})}, more...)...)
}

// exit prints an error with its hint and chooses the code.
func (a *App) exit(ctx context.Context, err error) int {
	a.UI.Clear()
	if err == nil {
		return ui.OK
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		said := "interrupted"
		if a.changes {
			said += "; the target has been put back"
		}
		a.UI.Warn(said, "")
		return ui.Interrupted
	}
	a.UI.Error(err)
	return ui.Code(err)
}

// commandOf is the command, "kasoku digest", that a wrong command line was
// meant for, as far as it is known.
func commandOf(err error) string {
	var wrong *kong.ParseError
	if errors.As(err, &wrong) && wrong.Context != nil {
		if node := wrong.Context.Selected(); node != nil {
			return node.FullPath()
		}
	}
	return "kasoku"
}
