package rubyapp

import "strings"

// PassengerFiles lie in the folder of an application that Phusion Passenger starts; it
// looks for them beside the document root (Passenger documentation, "Application
// autodetection": Ruby, Node.js, Python, Meteor, its own settings).
var PassengerFiles = []string{"config.ru", "app.js", "passenger_wsgi.py", ".meteor", "Passengerfile.json"}

// InPassenger reports whether Phusion Passenger started a process of these words: it
// gives it a title.
func InPassenger(argv []string) bool {
	return strings.HasPrefix(strings.Join(argv, " "), "Passenger ")
}
