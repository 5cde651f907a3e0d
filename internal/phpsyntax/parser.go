package phpsyntax

import (
	"bufio"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
)

//go:embed parse.php
var script string

// ErrNoPHP and ErrNoParser say what is missing to read PHP.
var (
	ErrNoPHP    = errors.New("PHP source is read by PHP itself, and `php` is not in PATH: install php-cli and php-parser")
	ErrNoParser = errors.New("PHP source is read by the library PHP-Parser, which this PHP does not find: install the package php-parser")
)

// Parser is a PHP that reads texts.
type Parser struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// Start runs PHP. as may change who it runs as.
func Start(ctx context.Context, as func(*exec.Cmd)) (*Parser, error) {
	php, err := exec.LookPath("php")
	if err != nil {
		return nil, ErrNoPHP
	}
	// What a program's own settings would load before the script is none of its business.
	p := &Parser{cmd: exec.CommandContext(ctx, php, "-d", "memory_limit=-1", "-d", "auto_prepend_file=", "-d", "auto_append_file=", "-d", "opcache.enable_cli=0",
		"-d", "zend.assertions=-1", "-d", "output_buffering=0", "-r", script[len("<?php"):])}
	p.cmd.Dir = "/"
	if as != nil {
		as(p.cmd)
	}
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("php: %w", err)
	}
	p.out = bufio.NewReaderSize(out, 1<<20)
	var said struct {
		Ready bool
		No    string
	}
	line, err := p.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &said)
	}
	switch {
	case err == nil && said.Ready:
		return p, nil
	case err == nil && said.No != "":
		err = ErrNoParser
	default:
		err = fmt.Errorf("php did not start: %w", err)
	}
	return nil, errors.Join(err, p.Close())
}

// Close ends it.
func (p *Parser) Close() error {
	err := p.in.Close()
	if waited := p.cmd.Wait(); waited != nil {
		err = waited
	}
	return err
}

// Parse reads the text of a file. Its tree is a node without a kind, whose part "stmts"
// are the statements.
func (p *Parser) Parse(src []byte) (*Node, error) {
	if _, err := fmt.Fprintf(p.in, "%d\n%s", len(src), src); err != nil {
		return nil, fmt.Errorf("php: %w", err)
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("php: %w", err)
	}
	var said map[string]any
	if err := json.Unmarshal(line, &said); err != nil {
		return nil, fmt.Errorf("php: %w", err)
	}
	if text, ok := said["error"].(string); ok {
		return nil, errors.New(text)
	}
	root := nodeOf(said, nil)
	root.From, root.To = 0, len(src)
	return root, nil
}

// nodeOf is the node that JSON tells of.
func nodeOf(said map[string]any, parent *Node) *Node {
	n := &Node{Parent: parent, parts: map[string]any{}}
	number := func(of any) int { f, _ := of.(float64); return int(f) }
	for key, value := range said {
		switch key {
		case "k":
			n.Kind, _ = value.(string)
		case "s":
			n.From = number(value)
		case "e":
			n.To = number(value)
		case "l":
			n.Line = number(value)
		case "r":
			n.Resolved, _ = value.(string)
		default:
			n.parts[key] = n.part(value)
		}
	}
	slices.SortStableFunc(n.order, func(a, b *Node) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(b.To, a.To)) })
	return n
}

// part is what a node holds under one name.
func (n *Node) part(value any) any {
	switch value := value.(type) {
	case map[string]any:
		sub := nodeOf(value, n)
		n.order = append(n.order, sub)
		return sub
	case []any:
		list := make([]*Node, len(value))
		for i, one := range value {
			if one, ok := one.(map[string]any); ok {
				list[i] = nodeOf(one, n)
				n.order = append(n.order, list[i])
			}
		}
		return list
	}
	return value
}
