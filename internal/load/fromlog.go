package load

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
)

// Asked is what an access log says about one target (path and query): how often it
// was asked for with GET, and the summed latency.
type Asked struct {
	Target string
	Count  int64
	Total  time.Duration
}

// logBudget bounds what FilesOf asks for in all.
const logBudget = 10 * time.Second

// FilesOf asks for targets of a log, in their order, as a stranger would, and returns
// those whose answer is a file by its Content-Type, as a run of Kasoku's own load
// knows them. Only targets with a name as files have are asked for: a GET of another
// one may do something (log out, begin anew). A path with several queries is one sample, as the web server has one
// file for it. It sends one request for each and only where load may go; what gets
// no answer is left out, and unasked says why.
func FilesOf(ctx context.Context, opts Options, asked []Asked) (files []StaticSample, unasked string, err error) {
	if len(asked) == 0 {
		return nil, "", nil
	}
	client, origin, err := plainClient(ctx, opts)
	if err != nil {
		return nil, "", err
	}
	defer client.CloseIdleConnections()
	var f failures
	of := map[string]*StaticSample{}
	no := map[string]bool{} // paths whose answers are no files
	end := time.Now().Add(logBudget)
	for _, a := range asked {
		name, _, _ := strings.Cut(a.Target, "?")
		s := of[name]
		if s == nil {
			if no[name] || !namedAsFile(name) || f.tooMany() || time.Now().After(end) {
				continue
			}
			_ = f.ask(ctx, a.Target, func() (err error) {
				s, err = fetchFile(ctx, client, origin, a.Target)
				return err
			})
			if s == nil {
				no[name] = true
				continue
			}
			s.Path = name
			of[name] = s
		}
		s.Count += a.Count
		s.Total += a.Total
	}
	for _, s := range of {
		files = append(files, *s)
	}
	slices.SortFunc(files, func(a, b StaticSample) int { return strings.Compare(a.Path, b.Path) })
	return files, f.text(), ctx.Err()
}

// fetchFile returns nil where the answer is no file.
func fetchFile(ctx context.Context, client *http.Client, origin, target string) (*StaticSample, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, origin+target, nil)
	if err != nil {
		return nil, err
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK || !isFile([]byte(res.Header.Get("Content-Type"))) {
		return nil, nil
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil || len(body) > maxAnswer {
		return nil, err
	}
	sum := sha256.Sum256(body)
	return &StaticSample{Status: res.StatusCode, ContentType: res.Header.Get("Content-Type"), SHA256: hex.EncodeToString(sum[:]),
		Size: int64(len(body)), SetsCookie: len(res.Header.Values("Set-Cookie")) > 0}, nil
}

// moreFiles are endings of files that Go knows no type of by itself.
var moreFiles = []string{".eot", ".ico", ".map", ".otf", ".ttf", ".woff", ".woff2"}

// namedAsFile reports whether a path ends as files do that isFile knows.
func namedAsFile(p string) bool {
	ext := strings.ToLower(path.Ext(p))
	return slices.Contains(moreFiles, ext) || isFile([]byte(mime.TypeByExtension(ext)))
}
