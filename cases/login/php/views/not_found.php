<section class="panel">
<h2>Page not found</h2>
</section>
