package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// want P11 refused: quotes
func unquoted(w http.ResponseWriter, r *http.Request) {
	out, err := exec.Command("sh", "-c", "printf %s "+r.FormValue("text")+" | md5sum").Output()
	fmt.Fprintln(w, string(out), err)
}

// want P11 refused: quotes
func quotedAsGo(w http.ResponseWriter, r *http.Request) {
	out, err := exec.Command("sh", "-c", "printf %s "+strconv.Quote(r.FormValue("text"))+" | md5sum").Output()
	fmt.Fprintln(w, string(out), err)
}

// want P11 refused: quotes
func quotedTwice(w http.ResponseWriter, r *http.Request) {
	out, err := exec.Command("sh", "-c", `printf "%s" "`+shellQuote(r.FormValue("text"))+`" | md5sum`).Output()
	fmt.Fprintln(w, string(out), err)
}

func halfQuoted(text string) string {
	return "'" + strings.Replace(text, "'", `'\''`, 1) + "'"
}

// want P11 refused: quotes
func oneQuote(w http.ResponseWriter, r *http.Request) {
	out, err := exec.Command("sh", "-c", "printf %s "+halfQuoted(r.FormValue("text"))+" | md5sum").Output()
	fmt.Fprintln(w, string(out), err)
}

// want P11 refused: output
func ofVersion(w http.ResponseWriter, r *http.Request) {
	out, err := exec.Command("sh", "-c", "printf %s "+shellQuote(r.FormValue("text"))+" | openssl dgst -sha256").Output()
	fmt.Fprintln(w, string(out), err)
}

// want P11 refused: output
func ofVersionToo(w http.ResponseWriter, r *http.Request) {
	out, err := exec.Command("sh", "-c", "printf %s "+shellQuote(r.FormValue("text"))+" | openssl dgst -sha256 | sed 's/^(stdin)= //'").Output()
	fmt.Fprintln(w, string(out), err)
}

// want P11 refused: output
func wrapped(w http.ResponseWriter, r *http.Request) {
	out, err := exec.Command("sh", "-c", "printf %s "+shellQuote(r.FormValue("text"))+" | base64").Output()
	fmt.Fprintln(w, string(out), err)
}

// want P11 refused: output
func part(w http.ResponseWriter, r *http.Request) {
	out, err := exec.Command("sh", "-c", "printf %s "+shellQuote(r.FormValue("text"))+" | md5sum | cut -c 1-8").Output()
	fmt.Fprintln(w, string(out), err)
}

// want P11 refused: output
func ofDigits(w http.ResponseWriter, r *http.Request) {
	out, err := exec.Command("sh", "-c", "printf %s "+shellQuote(r.FormValue("text"))+" | md5sum | sed 's/0.*//'").Output()
	fmt.Fprintln(w, string(out), err)
}

// want P11 refused: script
func expands(w http.ResponseWriter, r *http.Request) {
	out, err := exec.Command("bash", "-c", "printf %s "+shellQuote(r.FormValue("text"))+` | md5sum "$HOME/salt" -`).Output()
	fmt.Fprintln(w, string(out), err)
}

// want P11 refused: script
func failing(w http.ResponseWriter, r *http.Request) {
	out, err := exec.Command("bash", "-c", "set -o pipefail; printf %s "+shellQuote(r.FormValue("text"))+" | md5sum").Output()
	fmt.Fprintln(w, string(out), err)
}

// want P11 refused: arguments
func salted(w http.ResponseWriter, r *http.Request) {
	out, err := exec.Command("sh", "-c", "printf %s "+shellQuote(r.FormValue("text"))+" | openssl dgst -sha256 -hmac secret -r").Output()
	fmt.Fprintln(w, string(out), err)
}

// want P11 refused: arguments
func twoTexts(w http.ResponseWriter, r *http.Request) {
	out, err := exec.Command("sh", "-c", "printf %s%s "+shellQuote(r.FormValue("text"))+" "+shellQuote(r.FormValue("name"))+" | md5sum").Output()
	fmt.Fprintln(w, string(out), err)
}

// want P11 refused: arguments
func chosen(w http.ResponseWriter, r *http.Request) {
	cmd := exec.Command("openssl", "dgst", "-"+r.FormValue("sum"), "-r")
	cmd.Stdin = strings.NewReader(r.FormValue("text"))
	out, err := cmd.Output()
	fmt.Fprintln(w, string(out), err)
}

// want P11 refused: arguments
func ofFile(w http.ResponseWriter, r *http.Request) {
	out, err := exec.Command("sha256sum", r.FormValue("name")).Output()
	fmt.Fprintln(w, string(out), err)
}

// want P11 refused: input
func ofOpenFile(w http.ResponseWriter, r *http.Request) {
	in, err := os.Open("/etc/hostname")
	if err != nil {
		return
	}
	defer in.Close()
	cmd := exec.Command("sha256sum")
	cmd.Stdin = in
	out, err := cmd.Output()
	fmt.Fprintln(w, string(out), err)
}

// want P11 refused: input
func ofNothing(w http.ResponseWriter, r *http.Request) {
	out, err := exec.Command("sha256sum").Output()
	fmt.Fprintln(w, string(out), err)
}

// want P11 refused: result
func withErrors(w http.ResponseWriter, r *http.Request) {
	out, err := exec.Command("sh", "-c", "printf %s "+shellQuote(r.FormValue("text"))+" | md5sum").CombinedOutput()
	fmt.Fprintln(w, string(out), err)
}

// want P11 refused: result
func environment(w http.ResponseWriter, r *http.Request) {
	cmd := exec.Command("sha512sum")
	cmd.Stdin = strings.NewReader(r.FormValue("text"))
	cmd.Env = []string{"PATH=/opt/sums"}
	out, err := cmd.Output()
	fmt.Fprintln(w, string(out), err)
}

// want P11 refused: order
func changedBetween(w http.ResponseWriter, r *http.Request) {
	text := []byte(r.FormValue("text"))
	cmd := exec.Command("sha512sum")
	cmd.Stdin = bytes.NewReader(text)
	clear(text)
	out, err := cmd.Output()
	fmt.Fprintln(w, string(out), err)
}

// want P11 refused: request
func atStart() []byte {
	cmd := exec.Command("sha512sum")
	cmd.Stdin = strings.NewReader("the start")
	out, _ := cmd.Output()
	return out
}

// What is no digest is not told.
func listed(w http.ResponseWriter, r *http.Request) {
	out, err := exec.Command("ls", "-l").Output()
	fmt.Fprintln(w, string(out), err)
}
