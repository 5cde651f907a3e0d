package main

import (
	"bytes"
	"os"
	"sync"
	"time"

	"github.com/pierrec/lz4"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"
)

// apiLog has a frame of LZ4 for each request: what was asked, and the whole answer.
type apiLog struct {
	mu   sync.Mutex
	file *os.File
}

func openLog(path string) (*apiLog, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o640)
	return &apiLog{file: f}, err
}

func (l *apiLog) write(c *call, status int, answer []byte) error {
	entry := &structpb.Struct{Fields: map[string]*structpb.Value{
		"time":   structpb.NewStringValue(time.Now().UTC().Format(time.RFC3339Nano)),
		"user":   structpb.NewNumberValue(float64(c.user)),
		"method": structpb.NewStringValue(c.Method),
		"path":   structpb.NewStringValue(c.URL.Path),
		"status": structpb.NewNumberValue(float64(status)),
	}}
	for name, text := range map[string][]byte{"request": c.body, "response": answer} {
		var value structpb.Value
		if len(text) > 0 && protojson.Unmarshal(text, &value) == nil {
			entry.Fields[name] = &value
		}
	}
	text, err := protojson.Marshal(entry)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	w := lz4.NewWriter(&packed)
	w.Header.BlockMaxSize = 64 << 10
	if _, err := w.Write(append(text, '\n')); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.file.Write(packed.Bytes())
	return err
}
