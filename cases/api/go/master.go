package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// Rows of the master data, as the planners' sheets have them.
type (
	cardMaster struct {
		ID                     int64
		Name                   string
		Rarity, Element        int
		Attack, Defense, Skill int64
	}
	skillMaster struct {
		ID    int64
		Name  string
		Power int64
		Text  string
	}
	levelMaster struct{ Level, Exp int64 }
	stageMaster struct {
		ID         int64
		Name       string
		Exp, Coins int64
	}
	dropMaster  struct{ ID, Stage, Card, Weight int64 }
	gachaMaster struct {
		ID             int64
		Name           string
		Price          int64
		StartAt, EndAt int64
	}
	gachaCardMaster struct{ ID, Gacha, Card, Weight int64 }
	itemMaster      struct {
		ID   int64
		Name string
	}
	productMaster struct {
		ID           int64
		Name         string
		Price        int64
		Item, Amount int64
		Featured     int
	}
	newsMaster struct {
		ID          int64
		Title, Text string
		StartAt     int64
	}
)

type master struct {
	cards      []cardMaster
	skills     []skillMaster
	levels     []levelMaster
	stages     []stageMaster
	drops      []dropMaster
	gachas     []gachaMaster
	gachaCards []gachaCardMaster
	items      []itemMaster
	products   []productMaster
	news       []newsMaster
}

func loadMaster(folder string) (*master, error) {
	m := &master{}
	for _, file := range []struct {
		name string
		add  func(r *record)
	}{
		{"cards", func(r *record) {
			m.cards = append(m.cards, cardMaster{r.number(), r.text(), int(r.number()), int(r.number()), r.number(), r.number(), r.number()})
		}},
		{"skills", func(r *record) { m.skills = append(m.skills, skillMaster{r.number(), r.text(), r.number(), r.text()}) }},
		{"levels", func(r *record) { m.levels = append(m.levels, levelMaster{r.number(), r.number()}) }},
		{"stages", func(r *record) {
			m.stages = append(m.stages, stageMaster{r.number(), r.text(), r.number(), r.number()})
		}},
		{"drops", func(r *record) { m.drops = append(m.drops, dropMaster{r.number(), r.number(), r.number(), r.number()}) }},
		{"gachas", func(r *record) {
			m.gachas = append(m.gachas, gachaMaster{r.number(), r.text(), r.number(), r.number(), r.number()})
		}},
		{"gacha_cards", func(r *record) {
			m.gachaCards = append(m.gachaCards, gachaCardMaster{r.number(), r.number(), r.number(), r.number()})
		}},
		{"items", func(r *record) { m.items = append(m.items, itemMaster{r.number(), r.text()}) }},
		{"products", func(r *record) {
			m.products = append(m.products, productMaster{r.number(), r.text(), r.number(), r.number(), r.number(), int(r.number())})
		}},
		{"news", func(r *record) { m.news = append(m.news, newsMaster{r.number(), r.text(), r.text(), r.number()}) }},
	} {
		if err := readCSV(filepath.Join(folder, file.name+".csv"), file.add); err != nil {
			return nil, fmt.Errorf("master data: %w", err)
		}
	}
	return m, nil
}

// record is a line of a sheet, read field by field.
type record struct {
	fields []string
	err    error
}

func (r *record) text() string {
	if len(r.fields) == 0 {
		r.err = fmt.Errorf("too few fields")
		return ""
	}
	first := r.fields[0]
	r.fields = r.fields[1:]
	return first
}

func (r *record) number() int64 {
	n, err := strconv.ParseInt(r.text(), 10, 64)
	if err != nil && r.err == nil {
		r.err = err
	}
	return n
}

func readCSV(path string, add func(r *record)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for i, line := range lines[1:] {
		r := &record{fields: line}
		if add(r); r.err != nil {
			return fmt.Errorf("%s, line %d: %w", path, i+2, r.err)
		}
	}
	return nil
}

// find is the row that is asked for, nil if there is none.
func find[T any](rows []T, is func(*T) bool) *T {
	for i := range rows {
		if is(&rows[i]) {
			return &rows[i]
		}
	}
	return nil
}

func (m *master) card(id int64) *cardMaster {
	return find(m.cards, func(c *cardMaster) bool { return c.ID == id })
}

func (m *master) skill(id int64) *skillMaster {
	return find(m.skills, func(s *skillMaster) bool { return s.ID == id })
}

func (m *master) stage(id int64) *stageMaster {
	return find(m.stages, func(s *stageMaster) bool { return s.ID == id })
}

func (m *master) gacha(id int64) *gachaMaster {
	return find(m.gachas, func(g *gachaMaster) bool { return g.ID == id })
}

func (m *master) item(id int64) *itemMaster {
	return find(m.items, func(i *itemMaster) bool { return i.ID == id })
}

func (m *master) product(id int64) *productMaster {
	return find(m.products, func(p *productMaster) bool { return p.ID == id })
}
