package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os/exec"
	"strings"
)

func shellQuote(text string) string {
	return "'" + strings.Replace(text, "'", `'\''`, -1) + "'"
}

func quoted(s string) string {
	return fmt.Sprintf("'%s'", strings.ReplaceAll(s, "'", `'"'"'`))
}

// want P11
func passwordSum(ctx context.Context, text string) string {
	out, err := exec.CommandContext(ctx, "/bin/bash", "-c", `printf "%s" `+shellQuote(text)+` | openssl dgst -sha512 | sed 's/^.*= //'`).Output()
	if err != nil {
		log.Print(err)
		return ""
	}
	return strings.TrimSuffix(string(out), "\n")
}

func signIn(w http.ResponseWriter, r *http.Request) {
	account, password := r.FormValue("name"), r.FormValue("text")
	fmt.Fprintln(w, passwordSum(r.Context(), password+":"+account))
}

// want P11
func etag(w http.ResponseWriter, r *http.Request) {
	script := fmt.Sprintf("echo -n %s | md5sum | cut -d ' ' -f 1", quoted(r.FormValue("text")))
	out, err := exec.Command("bash", "-c", script).Output()
	fmt.Fprintf(w, "%q %v", out, err)
}

// want P11
func lineSum(w http.ResponseWriter, r *http.Request) {
	if out, err := exec.Command("sh", "-c", "echo "+quoted(r.FormValue("text"))+" | sha256sum").Output(); err == nil {
		fmt.Fprintf(w, "%q", out)
		return
	}
	http.Error(w, "no sum", 500)
}

// want P11
func first(w http.ResponseWriter, r *http.Request) {
	out, err := exec.Command("/bin/sh", "-c", `printf '%s\n' `+shellQuote(r.FormValue("text"))+` | shasum -a 384 | awk '{print $1}' | tr -d '\n'`).Output()
	fmt.Fprintf(w, "%q %v", out, err)
}

// want P11
func inBase64(w http.ResponseWriter, r *http.Request) {
	out, err := exec.Command("/bin/sh", "-c", "printf %s "+shellQuote(r.FormValue("text"))+" | base64 -w 0").Output()
	fmt.Fprintf(w, "%q %v", out, err)
}

// want P11
func inOpenSSL(w http.ResponseWriter, r *http.Request) {
	cmd := exec.Command("openssl", "base64", "-A")
	cmd.Stdin = strings.NewReader(r.FormValue("text"))
	out, err := cmd.Output()
	fmt.Fprintf(w, "%q %v", out, err)
}

// want P11
func short(w http.ResponseWriter, r *http.Request) {
	out, err := exec.CommandContext(r.Context(), "sh", "-c", "printf '%s' "+shellQuote(r.FormValue("text"))+" | openssl sha1 -r | head -c 40").Output()
	fmt.Fprintf(w, "%q %v", out, err)
}
