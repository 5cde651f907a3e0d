package main

import (
	"math/rand/v2"
	"slices"
)

// level is the level of who has so much experience, and what the next one takes.
func (m *master) level(exp int64) (level, next int64) {
	for _, l := range m.levels {
		if l.Exp > exp {
			return level, l.Exp
		}
		level = l.Level
	}
	return level, 0
}

// chances are the cards of a lottery, the rarest first, each with the weights of
// all up to it.
func (m *master) chances(cards []int64, weights []int64) (sorted []int64, sums []int64) {
	type chance struct {
		card, weight int64
		rarity       int
	}
	var all []chance
	for i, id := range cards {
		all = append(all, chance{id, weights[i], m.card(id).Rarity})
	}
	slices.SortStableFunc(all, func(a, b chance) int { return b.rarity - a.rarity })
	sum := int64(0)
	for _, c := range all {
		sum += c.weight
		sorted, sums = append(sorted, c.card), append(sums, sum)
	}
	return sorted, sums
}

// drawCards draws from a gacha.
func (m *master) drawCards(gacha int64, n int) []int64 {
	var cards, weights []int64
	for _, c := range m.gachaCards {
		if c.Gacha == gacha {
			cards, weights = append(cards, c.Card), append(weights, c.Weight)
		}
	}
	sorted, sums := m.chances(cards, weights)
	drawn := make([]int64, n)
	for i := range drawn {
		drawn[i] = pick(sorted, sums)
	}
	return drawn
}

// drop is the card that a stage drops.
func (m *master) drop(stage int64) int64 {
	var cards, weights []int64
	for _, d := range m.drops {
		if d.Stage == stage {
			cards, weights = append(cards, d.Card), append(weights, d.Weight)
		}
	}
	return pick(m.chances(cards, weights))
}

func pick(cards, sums []int64) int64 {
	at := rand.Int64N(sums[len(sums)-1])
	i, _ := slices.BinarySearch(sums, at+1)
	return cards[i]
}

// gachaView is a gacha that is open, with the cards that it is advertised with.
type gachaView struct {
	ID      int64      `json:"id"`
	Name    string     `json:"name"`
	Price   int64      `json:"price"`
	EndAt   int64      `json:"end_at"`
	Pickups []cardView `json:"pickups"`
}

func (m *master) openGachas(now int64) []gachaView {
	open := []gachaView{}
	for _, g := range m.gachas {
		if g.StartAt <= now && now < g.EndAt {
			open = append(open, gachaView{g.ID, g.Name, g.Price, g.EndAt, m.pickups(g.ID)})
		}
	}
	return open
}

// pickups are the three rarest of a gacha's cards, of those the strongest.
func (m *master) pickups(gacha int64) []cardView {
	var rare []gachaCardMaster
	for _, c := range m.gachaCards {
		if c.Gacha == gacha && c.Weight == 1 {
			rare = append(rare, c)
		}
	}
	slices.SortFunc(rare, func(a, b gachaCardMaster) int { return int(m.power(b.Card, 1) - m.power(a.Card, 1)) })
	views := []cardView{}
	for _, c := range rare[:min(3, len(rare))] {
		views = append(views, m.view(userCard{Card: c.Card, Level: 1}))
	}
	return views
}

// productView is what the shop shows.
type productView struct {
	ID     int64  `json:"id"`
	Name   string `json:"name"`
	Price  int64  `json:"price"`
	Item   string `json:"item"`
	Amount int64  `json:"amount"`
}

// shop is sorted by price; featured leaves the others out.
func (m *master) shop(featured bool) []productView {
	views := []productView{}
	for _, p := range m.products {
		if !featured || p.Featured == 1 {
			views = append(views, productView{p.ID, p.Name, p.Price, m.item(p.Item).Name, p.Amount})
		}
	}
	slices.SortStableFunc(views, func(a, b productView) int { return int(a.Price - b.Price) })
	return views
}

type newsView struct {
	ID      int64  `json:"id"`
	Title   string `json:"title"`
	Text    string `json:"text"`
	StartAt int64  `json:"start_at"`
}

// latestNews are the newest twenty.
func (m *master) latestNews(now int64) []newsView {
	views := []newsView{}
	for _, n := range m.news {
		if n.StartAt <= now {
			views = append(views, newsView(n))
		}
	}
	slices.SortFunc(views, func(a, b newsView) int { return int(b.StartAt - a.StartAt) })
	return views[:min(20, len(views))]
}

// cardView is a card with what the client shows of it.
type cardView struct {
	ID        int64  `json:"id,omitempty"`
	Card      int64  `json:"card_id"`
	Name      string `json:"name"`
	Rarity    int    `json:"rarity"`
	Element   int    `json:"element"`
	Level     int64  `json:"level"`
	Power     int64  `json:"power"`
	Skill     string `json:"skill"`
	SkillText string `json:"skill_text"`
}

func (m *master) power(card, level int64) int64 {
	c := m.card(card)
	return (c.Attack + c.Defense + m.skill(c.Skill).Power) * level
}

func (m *master) view(u userCard) cardView {
	c := m.card(u.Card)
	s := m.skill(c.Skill)
	return cardView{u.ID, c.ID, c.Name, c.Rarity, c.Element, u.Level, m.power(u.Card, u.Level), s.Name, s.Text}
}
