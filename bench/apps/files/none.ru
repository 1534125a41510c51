# frozen_string_literal: true

# The application of bench/files behind servers that serve files themselves. It has no page.
run(proc { |_env| [404, { "content-type" => "text/plain", "content-length" => "10" }, ["Not Found\n"]] })
