# frozen_string_literal: true

# The application of bench/quick: each call returns a new triplet with two fields and 14 bytes.
run(proc { |_env| [200, { "content-type" => "text/plain", "x-app" => "hello" }, ["Hello, World!\n"]] })
