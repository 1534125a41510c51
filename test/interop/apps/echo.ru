# frozen_string_literal: true

require "digest"

# Responds with the request: method, path, query, and the length and digest of the body.
use Rack::Lint
run(lambda do |env|
  body = env["rack.input"].read
  answer = [env["REQUEST_METHOD"], env["PATH_INFO"], env["QUERY_STRING"], body.bytesize, Digest::SHA256.hexdigest(body)]
  [200, { "content-type" => "text/plain" }, ["#{answer.join(' ')}\n"]]
end)
