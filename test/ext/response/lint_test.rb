# frozen_string_literal: true

require "rack/lint"
require "uri" # Rack 2.2's Lint needs uri and does not load it
require_relative "../support/lane_case"

# Rack::Lint checks the env and the response against Rack's SPEC. This test runs under each version of Rack.
class LintTest < Support::LaneCase
  # Rack 3 requires field names in lower case. Rack 2 requires a content type. The Lint of Rack 2 accepts only the name
  # with capitals.
  FIELDS = { Rack.release.to_i < 3 ? "Content-Type" : "content-type" => "text/plain" }.freeze
  REQUESTS = [
    ["GET / HTTP/1.1", ["Version: 9"]], ["GET / HTTP/1.1", ["Connection: upgrade", "Upgrade: a/1, b"]],
    ["GET /a%20b?c=%2F&d HTTP/1.1", ["Accept: */*", "Cookie: a=b", "Cookie: c=d"]],
    ["GET / HTTP/1.0", []], ["OPTIONS * HTTP/1.1", []], ["GET http://example.org/x HTTP/1.1", []],
    ["GET // HTTP/1.1", ["Host: [::1]:80"]], ["HEAD / HTTP/1.1", []], ["DELETE /x HTTP/1.1", ["Host: 127.0.0.1"]],
    ["POST / HTTP/1.1", ["Content-Length: 3", "Content-Type: text/plain"], "abc"],
    ["PUT / HTTP/1.1", ["Transfer-Encoding: chunked"], "3\r\nabc\r\n0\r\n\r\n"]
  ].freeze

  [{}, { frozen_env: true }, { settings: { spool_threshold: 1 } }].each do |options|
    define_method(:"test_requests_pass_the_check_with_#{options.keys.first || "nothing"}") do
      server = serve(Rack::Lint.new(method(:echo)), **options)
      (REQUESTS * 2).each do |line, fields, body|
        server.connect do |client|
          client.write(http(*fields, line: line, body: body))
          response = client.read_response(to: line[/\w+/])

          assert_equal 200, response.status, "#{line}: #{server.reports}"
          assert_match(/\A(abc)+\z/, response.body) if body
        end
      end
    end
  end

  def test_bodies_pass_the_check
    path = temp_file("file", "ab")
    bodies = { "/array" => -> { %w[a b] }, "/each" => -> { %w[a b].each }, "/to_path" => -> { File.open(path) } }
    bodies["/call"] = -> { ->(stream) { stream.tap { (stream << "a").write("b") }.close } } unless Rack.release.to_i < 3
    server = serve(Rack::Lint.new(->(env) { [200, FIELDS.dup, bodies.fetch(env["PATH_INFO"]).call] }))

    bodies.each_key { |path| assert_equal "ab", server.get(path).body }
  end

  def test_a_hijack_passes_the_check
    server = serve(Rack::Lint.new(lambda { |env|
      socket = env["rack.hijack"].call
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab")
      socket.close
      [200, FIELDS.dup, []]
    }))

    assert_equal "ab", server.get.body
    assert_equal :detached, server.next_report.level
  end

  def test_a_partial_hijack_passes_the_check
    write = ->(stream) { stream.tap { stream.write("ab") }.close }
    server = serve(Rack::Lint.new(->(_) { [200, FIELDS.merge("rack.hijack" => write), []] }))

    assert_equal "ab", server.get.body
    assert_equal :detached, server.next_report.level
  end

  def test_callables_pass_the_check
    finished = Queue.new
    server = serve(Rack::Lint.new(lambda { |env|
      env["rack.early_hints"].call({ "link" => "</a>; rel=preload" })
      env["rack.response_finished"] << ->(*arguments) { finished << arguments.size }
      [200, FIELDS.dup, ["ab"]]
    }))

    server.connect do |client|
      client.request("GET", "/")

      assert_equal [103, 200], Array.new(2) { client.read_response.status }
    end
    assert_equal 4, finished.pop
  end

  private

  # Reads the body a second time if Lint permits rewind.
  def echo(env)
    input = env["rack.input"]
    text = input.read
    text += input.tap(&:rewind).read if input.respond_to?(:rewind)
    [200, FIELDS.dup, env["REQUEST_METHOD"] == "HEAD" ? [] : [text]]
  end
end
