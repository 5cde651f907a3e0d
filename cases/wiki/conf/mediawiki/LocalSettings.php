<?php
# As MediaWiki's installer writes it, with short addresses.
if ( !defined( 'MEDIAWIKI' ) ) {
	exit;
}

$wgSitename = "風土記";
$wgMetaNamespace = "風土記";

$wgScriptPath = "";
$wgArticlePath = "/wiki/$1";
$wgServer = "http://@ADDRESS@";
$wgResourceBasePath = $wgScriptPath;
$wgFavicon = "$wgResourceBasePath/resources/assets/mediawiki.png";

$wgEnableEmail = false;
$wgEnableUserEmail = false;

$wgDBtype = "mysql";
$wgDBserver = "127.0.0.1:@DB_PORT@";
$wgDBname = "wiki";
$wgDBuser = "wiki";
$wgDBpassword = "@APP_PASSWORD@";
$wgDBprefix = "";
$wgDBTableOptions = "ENGINE=InnoDB, DEFAULT CHARSET=binary";

$wgMainCacheType = CACHE_NONE;
$wgMemCachedServers = [];

$wgEnableUploads = true;
$wgUseImageMagick = false;
$wgUseInstantCommons = false;
$wgPingback = false;

$wgLanguageCode = "ja";
$wgLocaltimezone = "Asia/Tokyo";

$wgSecretKey = "@SECRET_KEY@";
$wgAuthenticationTokenVersion = "1";
$wgUpgradeKey = "@UPGRADE_KEY@";

$wgRightsPage = "";
$wgRightsUrl = "";
$wgRightsText = "";
$wgRightsIcon = "";
$wgDiff3 = "/usr/bin/diff3";

$wgDefaultSkin = "vector";
wfLoadSkin( 'Vector' );
wfLoadExtension( 'Cite' );
wfLoadExtension( 'ParserFunctions' );
