# frozen_string_literal: true

# The application of bench/quick: a new triplet each time, two fields, 14 bytes.
run(proc { |_env| [200, { "content-type" => "text/plain", "x-app" => "hello" }, ["Hello, World!\n"]] })
