<?php
// Wikitext of articles, as pure functions of title, section and version: the
// same on every machine.

require_once __DIR__ . '/words.php';

/** pick draws one entry; mt_rand is the same on every PHP since 7.1. */
function pick( array $words ): string {
	return $words[mt_rand( 0, count( $words ) - 1 )];
}

/** sentence makes one sentence, sometimes with a link to another article. */
function sentence(): string {
	$place = pick( PREFECTURES );
	if ( mt_rand( 0, 3 ) === 0 ) {
		$topic = pick( TOPICS );
		$place = "[[{$place}の{$topic}]]";
	}
	return pick( LINKS ) . '、' . pick( TIMES ) . 'には' . $place . 'の' . pick( PLACES ) . 'で' . pick( PEOPLE ) .
		'が' . pick( THINGS ) . 'と' . pick( THINGS ) . pick( VERBS ) . '。';
}

function paragraph( int $sentences ): string {
	$text = '';
	for ( $i = 0; $i < $sentences; $i++ ) {
		$text .= sentence();
	}
	return $text;
}

/** section is one section of an article in its version-th form. */
function section( string $title, int $number, int $version, int $sentences ): string {
	mt_srand( crc32( "$title/$number/$version" ) );
	$text = '== ' . SECTIONS[$number % count( SECTIONS )] . " ==\n" . paragraph( $sentences );
	if ( $number % 3 === 1 ) {
		$text .= '<ref>{{出典|題=' . pick( PREFECTURES ) . 'の' . pick( TOPICS ) . '|年=' . mt_rand( 1950, 2018 ) . '}}</ref>';
	}
	return $text . "\n\n" . paragraph( intdiv( $sentences, 2 ) ) . "\n";
}

/**
 * article is revision $k (from 0) of a page: each revision rewrites one
 * section, as edits do.
 */
function article( string $title, string $prefecture, string $topic, int $k, int $sections, int $sentences ): string {
	mt_srand( crc32( $title ) );
	$text = "{{基礎情報|名称=$title|地方=$prefecture|主題=$topic|画像=" . picture( $prefecture ) . '|人口=' . mt_rand( 10, 900 ) .
		"万|面積={{#if:$topic|" . mt_rand( 1800, 9000 ) . "|不明}}}}\n'''$title'''は、{$prefecture}の{$topic}についての項目である。\n\n";
	for ( $s = 0; $s < $sections; $s++ ) {
		$text .= section( $title, $s, intdiv( $k + $sections - 1 - $s, $sections ), $sentences );
	}
	return $text . "== 脚注 ==\n<references />\n{{案内|$topic}}\n[[カテゴリ:$topic]]\n[[カテゴリ:{$prefecture}]]\n";
}

/** chronicle is a long page: a table whose rows are templates. */
function chronicle( string $title, int $k, int $rows ): string {
	$text = "'''$title'''は、各地の出来事の一覧である。第" . ( $k + 1 ) . "版。\n";
	mt_srand( crc32( $title ) );
	foreach ( range( 0, intdiv( $rows, 40 ) - 1 ) as $part ) {
		$text .= '== ' . ( 1500 + 10 * $part ) . "年代 ==\n" . paragraph( 6 ) . "\n{| class=\"wikitable sortable\"\n! 年 !! 場所 !! 出来事\n";
		for ( $i = 0; $i < 40; $i++ ) {
			$prefecture = pick( PREFECTURES );
			$text .= '{{年表行|年=' . ( 1500 + 10 * $part + intdiv( $i, 4 ) ) . "|場所=$prefecture|主題=" . pick( TOPICS ) .
				'|出来事=' . sentence() . "}}\n";
		}
		$text .= "|}\n";
	}
	return $text . "[[カテゴリ:年表]]\n";
}

/** picture is the file that shows a prefecture. */
function picture( string $prefecture ): string {
	return 'Fuukei' . ( array_search( $prefecture, PREFECTURES, true ) % 12 + 1 ) . '.png';
}

/** frontPage is the wiki's main page. */
function frontPage(): string {
	$text = "{| width=\"100%\"\n| style=\"vertical-align:top\" |\n== ようこそ ==\n[[ファイル:Fuukei1.png|thumb|今日の風景]]\n";
	mt_srand( 1 );
	$text .= paragraph( 12 ) . "\n== 新しい項目 ==\n";
	for ( $i = 0; $i < 24; $i++ ) {
		$title = pick( PREFECTURES ) . 'の' . pick( TOPICS );
		$text .= "* [[$title]] – " . sentence() . "\n";
	}
	$text .= "| style=\"vertical-align:top; width:40%\" |\n== 地方 ==\n";
	foreach ( PREFECTURES as $prefecture ) {
		$text .= "[[:カテゴリ:$prefecture|$prefecture]] · ";
	}
	$text .= "\n== 写真 ==\n<gallery>\n";
	for ( $i = 1; $i <= 12; $i++ ) {
		$text .= "ファイル:Fuukei$i.png|風景その$i\n";
	}
	$text .= "</gallery>\n== 長い項目 ==\n* [[日本の年表]]\n* [[街道の年表]]\n* [[海の年表]]\n|}\n";
	foreach ( TOPICS as $topic ) {
		$text .= "{{案内|$topic}}\n";
	}
	return $text;
}

/** templates by title. */
function templates(): array {
	$rows = '';
	foreach ( [ '名称', '地方', '主題', '人口', '面積' ] as $name ) {
		$rows .= "{{#if:{{{{$name}|}}}|\n{{!}}-\n! $name\n{{!}} {{{{$name}}}}\n}}";
	}
	$links = '';
	foreach ( PREFECTURES as $prefecture ) {
		$links .= "[[{$prefecture}の{{{1}}}|$prefecture]] · ";
	}
	return [
		'テンプレート:基礎情報' => "<includeonly>{| class=\"infobox\" style=\"float:right\"\n" .
			"| colspan=\"2\" | [[ファイル:{{{画像|Fuukei1.png}}}|200px]]\n$rows\n|}</includeonly><noinclude>項目の右上の表。</noinclude>",
		'テンプレート:年表行' => "|-\n| {{{年}}}年 || [[{{{場所}}}の{{{主題}}}|{{{場所}}}]] || {{{出来事}}}",
		'テンプレート:出典' => '『{{{題}}}』{{#if:{{{年|}}}|（{{{年}}}年）}}',
		'テンプレート:案内' => "<div class=\"navbox\" style=\"border:1px solid #aaa; clear:both\">'''{{{1}}}''': $links</div>",
	];
}
