<?php
// The site's settings by WordPress' own functions, so that rows that belong together
// are WordPress'. The rest is SQL (fill.sql). Called twice, because a new theme
// takes its place when WordPress starts the next time:
// php site.php ADDRESS theme, then php site.php ADDRESS.
$_SERVER['HTTP_HOST'] = $argv[1];
require '/usr/share/wordpress/wp-load.php';

if ( 'theme' === ( $argv[2] ?? '' ) ) {
	switch_theme( 'twentytwentyone' );
	exit;
}
$wp_rewrite->set_permalink_structure( '/%year%/%monthnum%/%postname%/' );
flush_rewrite_rules( false );
update_option( 'blogdescription', 'What the harbour writes about itself' );
// Nobody wants a mail for each comment.
update_option( 'comments_notify', 0 );
update_option( 'moderation_notify', 0 );

// What a new site shows beside its posts, all of it, and its tags.
$blocks    = get_option( 'widget_block' );
$blocks[7] = array( 'content' => '<!-- wp:group --><div class="wp-block-group"><!-- wp:heading --><h2>Tags</h2><!-- /wp:heading --><!-- wp:tag-cloud {"numberOfTags":30} /--></div><!-- /wp:group -->' );
update_option( 'widget_block', $blocks );
wp_set_sidebars_widgets( array( 'wp_inactive_widgets' => array(), 'sidebar-1' => array( 'block-2', 'block-3', 'block-4', 'block-5', 'block-6', 'block-7' ) ) );

$user = wp_insert_user( array( 'user_login' => 'user1', 'user_pass' => 'visitor-password', 'user_email' => 'user1@field.example', 'first_name' => 'Anna', 'last_name' => 'Adams', 'display_name' => 'Anna Adams', 'description' => 'Writes about the harbour.', 'role' => 'editor' ) );
if ( is_wp_error( $user ) ) {
	fwrite( STDERR, $user->get_error_message() . "\n" );
	exit( 1 );
}
