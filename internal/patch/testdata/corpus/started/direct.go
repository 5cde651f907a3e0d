package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os/exec"
)

// Its imports go with it.
//
// want P11
func bodySum(body []byte) ([]byte, error) {
	cmd := exec.Command("openssl", "dgst", "-sha256", "-binary")
	cmd.Stdin = bytes.NewReader(body)
	return cmd.Output()
}

func sumOfBody(w http.ResponseWriter, r *http.Request) {
	out, err := bodySum([]byte(r.FormValue("text")))
	fmt.Fprintf(w, "%q %v", out, err)
}

// want P11
func piped(w http.ResponseWriter, r *http.Request) {
	cmd := exec.Command("sh", "-c", "sha224sum | sed 's/ .*//'")
	cmd.Stdin = bytes.NewBufferString(r.FormValue("text"))
	out, err := cmd.Output()
	fmt.Fprintf(w, "%q %v", out, err)
}
