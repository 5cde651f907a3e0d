package patch

import "fmt"

// Shape is a pattern of code with what it becomes.
type Shape struct {
	ID    string
	Title string
	// Needs are its preconditions by name: what must be shown before a place is offered.
	Needs []Need
	find  func(*Program) []*Place
}

// Need is a precondition.
type Need struct{ Name, Text string }

// Preconditions that several shapes have.
var (
	needOwn      = Need{"own", "the file is neither generated nor vendored, and has Unix line ends"}
	needDriver   = Need{"driver", "the program's only database driver is go-sql-driver/mysql"}
	needConstant = Need{"constant", "the statement's text is a constant"}
	needText     = Need{"constant", "the statement's text is a constant; for UNION ALL in the loop itself it may be one of two: a constant, and that with another one added in an if"}
	needCompiles = Need{"compiles", "the new text passes the type checker, and names nothing that is there already"}
	needHandle   = Need{"handle", "the handle and the context are the same in each turn of the loop"}
	needCalls    = Need{"calls", "what the loop calls is known: no goroutines, channels, other services, and no function values but parameters for which all callers give one that is known"}
	needEnd      = Need{"end", "the loop goes over a slice, or over the rows of a result, to its end: no break, no return but of an error"}
)

// Shapes lists what is looked for, in the order in which it is told.
func Shapes() []Shape {
	return []Shape{
		{"P1", "one read for all rows of a loop", []Need{needOwn, needDriver, needText, needFunction, needEnd, needRows, needMemory, needCalls, needHandle,
			{"statement", "for IN: it reads plain columns of one table by `column = ?`, without order, lock or LIMIT other than 1; for UNION ALL: it locks nothing, and gives the same each time it is asked"},
			{"key", "for IN: the key is an integer, or a string whose column the schema shows to be unique; it is a value of the loop's element that the loop does not change; for UNION ALL: all that changes are plain values of the loop's element, or of the row that an earlier read of the turn, which is offered itself, gave and that nothing has changed since"},
			{"destination", "the row is put into variables of plain types that nothing else writes, and for IN one of them, or a field, is the key's column"},
			{"writes", "nothing in the loop writes to the table, in a transaction nothing writes or locks at all, and no trigger or cascade of the schema does"},
			needMode, needLayout, needLeft, needCompiles}, findReads},
		{"P2", "one read for all sums, or all lists, of a loop", []Need{needOwn, needDriver, needText, needFunction, needEnd, needRows, needMemory, needCalls, needHandle,
			{"statement", "for IN: it reads one COUNT, SUM, MIN, MAX or AVG of one table by `column = ?`; for UNION ALL, and for lists: as of P1; PHP: a sum is one of integers or decimals, a MIN or MAX of these or of dates"},
			{"key", "for IN: the key is an integer; it is a value of the loop's element that the loop does not change; for UNION ALL: as of P1"},
			{"destination", "the value is put into a variable of a plain type, a list into a slice that is empty"},
			{"writes", "as of P1"},
			{"error", "PHP: a statement that fails throws an exception"},
			needMode, needLayout, needLeft, needCompiles}, nil},
		{"P3", "one INSERT for all rows of a loop", []Need{needOwn, needDriver, needConstant, needEnd, needRows, needMemory, needCalls, needHandle,
			{"statement", "it inserts one row of values and placeholders, without a function and without ON DUPLICATE KEY"},
			{"result", "nothing looks at its result, and no statement of the function asks for LAST_INSERT_ID()"},
			{"transaction", "it runs in a transaction that an error rolls back, so that no row stays of a loop that fails"},
			{"error", "an error ends the function with it, without a word of the loop's element"},
			{"values", "the values are plain: nothing that is changed before the statement runs, or that makes it larger than the server takes"},
			{"alone", "the loop has no other statement"},
			needCompiles}, findWrites},
		{"P4", "one UPDATE or DELETE for all rows of a loop", []Need{needOwn, needDriver, needConstant, needEnd, needRows, needMemory, needCalls, needHandle,
			{"statement", "it is of one table, sets placeholders and constants, and has comparisons joined by AND"},
			{"key", "one value is another one in each turn: an integer, compared by = with a column that a .sql file shows to be of integers and that is not set"},
			{"values", "what it sets is the same in each turn, and plain"},
			{"writes", "the schema has no trigger and no cascade, and the table does not refer to itself"},
			{"result", "as of P3"}, {"transaction", "as of P3"}, {"error", "as of P3"}, {"alone", "as of P3"},
			needCompiles}, nil},
		{"P5", "values put into the text by the driver, without a prepared statement for each call; PHP: a statement of a loop prepared once", []Need{needOwn, needDriver, needConstant,
			{"option", "the parameters of the connection are in the source, and interpolateParams is not among them"},
			{"charset", "no character set in which the driver refuses it (big5, cp932, gb2312, gbk, sjis)"},
			{"types", "text and binary protocol give the same: no value is read into an interface, unless the driver is 1.8 or newer, no FLOAT column is read, and no bytes are a value but for a column of bytes"},
			{"once", "the statement is prepared for one call, and errors of both are told alike"},
			{"handle", "PHP: of what is prepared in a loop, the connection is the same in each turn"},
			{"calls", "PHP: what the loop calls is known"},
			{"session", "PHP: no statement of the loop sets something of the connection, or makes a table"},
			{"error", "PHP: a statement that fails throws an exception"},
			needLayout, needLeft,
			needCompiles}, findPrepares},
		{"P6", "kept for the request instead of read again", []Need{needOwn, needDriver, needConstant,
			{"function", "PHP: it returns what one statement gives by its parameters, and does nothing else"},
			{"statement", "it gives the same each time it is asked, and locks nothing"},
			{"key", "each parameter is declared as int, one of them may be a string; Go: both reads have the same text, database and values, which nothing changes between"},
			{"mode", "the form of a row is known, and it is no object"},
			{"writes", "no text of the program writes to the tables, or to one whose name is put together; there is neither vendored code nor a trigger or cascade; Go: nothing between the two reads writes or locks"},
			{"request", "PHP: nothing shows that the program outlives a request"},
			{"order", "Go: the first of two reads is always made before the second, in one function and in no loop"},
			{"error", "Go: an error of either ends the function"},
			{"destination", "Go: what the first one filled are variables of the function of plain types, which nothing changes until the second"},
			{"calls", "Go: what is called between the two is known, and waits for nothing"},
			needCompiles}, findAgain},
		{"P8", "numbers drawn from a counter a hundred at a time", []Need{needOwn, needDriver, needConstant,
			{"statement", "it is UPDATE table SET column = LAST_INSERT_ID(column + 1), for all rows or by `column = constant`"},
			{"request", "as of P10"},
			{"handle", "it runs in no transaction, which would give the number back"},
			{"column", "no schema shows that the column is something else than an INT or a BIGINT; PHP: a .sql file or a run shows a BIGINT"},
			{"function", "PHP: it is in a function without parameters, and the next statement returns the number as an integer"},
			needLayout,
			{"result", "nothing but LastInsertId is asked of its result"},
			{"only", "no other text of the program names the table, and no trigger or cascade is there"},
			needCompiles}, findDraws},
		{"P9", "data that nothing of the program writes, kept for a second", []Need{needOwn, needDriver,
			{"statement", "its text is a constant without values, it locks nothing, and gives the same each time it is asked"},
			{"handle", "it runs in no transaction"},
			{"schema", "a .sql file shows each table of it as a table, and none has a trigger or a cascade"},
			{"function", "the function does nothing but read it and give it with an error; it has no parameters but a context and a database"},
			{"results", "they are plain values, structs of such, or slices of both, which each caller gets a copy of"},
			{"writes", "no text of the program that names a table of it is more than a SELECT, of each statement the source tells what it writes, and no library or other program that may write is used"},
			needCompiles}, findMasterReads},
		{"P10", "compiled, parsed or made once instead of in each request", []Need{needOwn,
			{"request", "a request reaches the function, and it is not only run at the start; PHP: nothing shows that the program outlives a request, or forks"},
			{"arguments", "all arguments are constants, functions, or variables of the package that nothing assigns; PHP: what a connection is opened with is the same in the whole request"},
			{"shared", "nothing changes it after it is made"},
			{"error", "its error is not looked at, or cannot be"},
			{"driver", "PHP: the database is MySQL or MariaDB, by the classes of PHP itself"},
			{"function", "PHP: a function without parameters opens one connection, sets it up, returns it and does nothing else"},
			{"session", "PHP: nothing of the program leaves something on a connection that a caller with one of its own did not see: a transaction that is open while others ask, a variable or an attribute, a lock, a temporary table, a result that is not read whole, the number of the last row"},
			{"calls", "PHP: no connection is given to a library"},
			needLayout,
			needCompiles}, findMade},
		{"P11", "what the standard library does, without a program that is started", []Need{needOwn,
			{"request", "as of P10"},
			{"arguments", "the program and its arguments are constants; a shell gets -c and one script with at most one value in it"},
			{"quotes", "that value is quoted: in '…', with each quote in it written as '\\'', or by a library for that"},
			{"script", "it is a pipeline and nothing more: printf or echo of the value, a digest or base64, and what takes that out of the line (sed, awk, cut, tr, head)"},
			{"input", "the text is the argument of printf or echo, or Stdin is a reader of strings or bytes"},
			{"output", "what it prints is known to the byte, in all versions of the program"},
			{"result", "only Output is called, of a command that nothing else sets"},
			{"order", "the statements that make, give and start it follow one another"},
			needCompiles}, findStarted},
		{"P12", "what each request makes, taken from a pool", []Need{needOwn,
			{"request", "as of P10"},
			{"handle", "a statement of its own makes it and puts it into a new variable"},
			{"arguments", "it is made of one writer or reader, which Reset takes as well, and of constants; a buffer is empty"},
			{"loop", "it is not made in a loop"},
			{"settings", "where Reset keeps what was set (lz4), the same constants are set in each call"},
			{"error", "the error of a level that is right is looked at right behind it, or not at all; that of a reader right behind it"},
			{"kept", "neither it nor memory of it is returned, put into a field, a variable of the package, a function that may run later, a goroutine or a channel, or given to code that may do so"},
			needCompiles}, findRemade},
		{"P19", "connections kept in the pool, not two of them only", []Need{needOwn, needDriver,
			{"start", "the pool is opened when the program starts, not by a request"},
			{"handle", "it is in a variable, and its error is looked at before"},
			{"limit", "where the program limits open connections, by a constant or a variable; nothing is offered where it says how many are kept"},
			needCompiles}, findPools},
	}
}

// Refusal says which precondition could not be shown.
type Refusal struct {
	Need   string `json:"need"`
	Reason string `json:"reason"`
}

func (r *Refusal) Error() string { return r.Need + ": " + r.Reason }

// refuse is a precondition that cannot be shown.
func refuse(need, format string, args ...any) *Refusal {
	return &Refusal{need, fmt.Sprintf(format, args...)}
}
