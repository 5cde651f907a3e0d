// Package knownapp is what is known of applications that many run: how each is
// told, which files hold its settings, in which tables of its database it keeps
// what it has computed, and which of its own settings of caches, pages,
// sessions and jobs its documentation says to change.
//
// In: a way to look at the files of a folder. Out: which application it is, and
// which settings are not as documented for production. Nothing is changed, and
// no proposal is more than that: what is tried is proved as any other change.
// docs/reference/applications.md is made from the table.
package knownapp

import "kasoku/internal/regulation"

// Application is software with documented settings.
type Application struct {
	ID   string // "mediawiki"
	Name string // "MediaWiki"
	// Marks tell it: all must be there. Version, if it has a pattern, is the
	// first group of it, e.g. "1.39.17".
	Marks   []Mark
	Version Mark
	// Settings are the files that hold its settings, as patterns below its
	// folder (path.Match).
	Settings []string
	// CacheTables are tables of its database that are caches: looking things up
	// there one by one means that no other cache holds them. A prefix that ends
	// in _ may stand before a name; a name may end in *.
	CacheTables []string
	Knobs       []Knob
	// Preload is its own script for opcache.preload; nil if it has none.
	Preload *Preload
}

// Preload is a script of PHP that loads an application's classes once, when
// PHP starts (PHP manual, "Preloading").
type Preload struct {
	// File is what opcache.preload is to name. Needs is a pattern of what it
	// loads, which the application makes when it is deployed: without that it
	// loads nothing.
	File, Needs string
	Source      string
}

// Mark is a file below the application's folder.
type Mark struct {
	// Files: the first that is there counts.
	Files []string
	// Holds is a regular expression that its text matches; "": any.
	Holds string
}

// Area is what a setting is about.
type Area string

const (
	ObjectCache Area = "object cache"
	PageCache   Area = "whole pages"
	Sessions    Area = "sessions"
	Jobs        Area = "jobs"
	Production  Area = "production mode"
)

// Areas in the order of the document.
var Areas = []Area{ObjectCache, PageCache, Sessions, Jobs, Production}

// Knob is one documented setting.
type Knob struct {
	Area Area
	// Name as the documentation has it, and the file that it stands in.
	Name, In string
	Default  string
	// Propose is the documented value, or what it depends on.
	Propose string
	// Why it matters, in a sentence.
	Why string
	// Trade that it makes, "" if none; Note names traps.
	Trade regulation.Trade
	Note  string
	// Source is the page of the documentation.
	Source string
	// Front says whether it is for applications behind a cache of whole pages.
	Front Front
	// Params are the only parameters that the query of a page may have which it
	// keeps; nil: any.
	Params []string
	// Sign says when it is called for.
	Sign Sign
	// Remedy that applies it; "": it is told, and done by hand or `kasoku try`.
	Remedy string
}

// Front is what a setting expects in front of the application.
type Front string

const (
	Any    Front = ""
	Behind Front = "behind a cache of whole pages"
	Alone  Front = "without a cache of whole pages in front"
)

// Sign calls for a setting. Of several conditions each must hold.
type Sign struct {
	// Files are patterns below the application's folder; the first that is
	// there is looked at, comments of #, // and /* left out.
	Files []string
	// Holds: its text matches. Lacks: it does not. Both are regular expressions.
	Holds, Lacks string
	// Absent: none of the Files is there. Holds and Lacks then say nothing.
	Absent bool
}

// Call is a setting that is called for.
type Call struct {
	Area Area   `json:"area"`
	Name string `json:"name"`
	// Now is the line that stands there, "" if there is none; passwords are not
	// in lines that signs match. Where is the file, with its line if there is one.
	Now   string `json:"now,omitempty"`
	Where string `json:"where"`
}

// Found is an application as it is.
type Found struct {
	ID      string `json:"id"`
	Version string `json:"version,omitempty"`
	// Settings are its settings files that are there, absolute.
	Settings []string `json:"settings,omitempty"`
	Calls    []Call   `json:"calls,omitempty"`
	// Preload is its script for opcache.preload, absolute; "" if it has none, or
	// one that loads nothing.
	Preload string `json:"preload,omitempty"`
}

// ByID returns the application, nil if none has that ID.
func ByID(id string) *Application {
	for i := range Applications {
		if Applications[i].ID == id {
			return &Applications[i]
		}
	}
	return nil
}

// Knob returns a setting by its name, nil if it has none.
func (a *Application) Knob(name string) *Knob {
	for i := range a.Knobs {
		if a.Knobs[i].Name == name {
			return &a.Knobs[i]
		}
	}
	return nil
}

// Call returns the call for a setting, nil if it is not called for.
func (f *Found) Call(name string) *Call {
	for i := range f.Calls {
		if f.Calls[i].Name == name {
			return &f.Calls[i]
		}
	}
	return nil
}
