# frozen_string_literal: true

require_relative "../support/lane_case"

# The env of a request, by Rack's SPEC, without the option frozen_env.
class EnvTest < Support::LaneCase
  def test_env_has_the_parts_of_the_request_line
    env = env_of(http(line: "PUT /a%2Fb;c?x=%20&y HTTP/1.1"))

    assert_equal ["PUT", "", "/a%2Fb;c", "x=%20&y", "/a%2Fb;c?x=%20&y", "HTTP/1.1"],
                 env.values_at("REQUEST_METHOD", "SCRIPT_NAME", "PATH_INFO", "QUERY_STRING", "REQUEST_URI",
                               "SERVER_PROTOCOL")
  end

  def test_no_query_is_an_empty_string
    assert_equal ["", ""], [env_of(http)["QUERY_STRING"], env_of(http(line: "GET /? HTTP/1.1"))["QUERY_STRING"]]
  end

  def test_an_unknown_method_keeps_its_case
    assert_equal "pUrGe", env_of(http(line: "pUrGe / HTTP/1.1"))["REQUEST_METHOD"]
  end

  def test_the_server_name_and_port_come_from_host
    assert_equal ["example.org", "8080", "example.org:8080"], server_of(env_of(http("Host: example.org:8080")))
    assert_equal ["[::1]", "81", "[::1]:81"], server_of(env_of(http("Host: [::1]:81")))
    assert_equal ["example.org", "80", "example.org"], server_of(env_of(http("Host: example.org"), port: 9292))
  end

  def test_without_host_the_server_name_and_port_come_from_the_listener
    env = env_of("GET / HTTP/1.0\r\n\r\n", name: "listener.test", port: 9292)

    assert_equal ["listener.test", "9292", nil], server_of(env)
  end

  def test_an_absolute_target_wins_over_host
    env = env_of(http("Host: evil.test", line: "GET http://good.test:81/p?q HTTP/1.1"))

    assert_equal ["good.test", "81", "good.test:81"], server_of(env)
    assert_equal ["/p", "q", "http://good.test:81/p?q"], env.values_at("PATH_INFO", "QUERY_STRING", "REQUEST_URI")
  end

  def test_the_asterisk_is_the_path_if_the_spec_allows_it
    assert_equal "*", env_of(http(line: "OPTIONS * HTTP/1.1"), asterisk: true)["PATH_INFO"]
    assert_equal "", env_of(http(line: "OPTIONS * HTTP/1.1"), asterisk: false)["PATH_INFO"]
  end

  # Rack itself takes the scheme from the field. docs/APPLICATIONS.md has the middleware.
  def test_the_scheme_of_the_proxy_is_for_rack_unless_a_middleware_sets_it
    bytes = http("Host: a.test", "X-Forwarded-Proto: https")
    page = File.read(File.expand_path("../../../docs/APPLICATIONS.md", __dir__))
    middleware = page[/^```ruby\n(use Rack::Config .*?)^```$/m, 1]
    seen = []
    builder = Rack::Builder.new(->(env) { seen.push(env) && OK })
    builder.instance_eval(middleware)
    serve(builder.to_app).raw(bytes)

    assert_equal ["http", "80", "https://a.test/"], scheme_of(env_of(bytes))
    assert_equal ["https", "443", "https://a.test/", "/"], scheme_of(seen.first).push(seen.first["REQUEST_PATH"])
  end

  # The SPEC of Rack 3.0 is the last one that names HTTP_VERSION.
  def test_http_version_is_the_protocol_before_rack_3_1_and_never_the_field_version
    { http("Version: 9") => "HTTP/1.1", "GET / HTTP/1.0\r\nVersion: 9\r\n\r\n" => "HTTP/1.0" }.each do |bytes, version|
      expected = Rack.release.to_f < 3.1 ? { "HTTP_VERSION" => version } : {}
      [false, true].each do |frozen|
        env = env_of(bytes, frozen_env: frozen)

        assert_equal version, env["SERVER_PROTOCOL"]
        assert_equal expected, env.slice("HTTP_VERSION")
      end
    end
  end

  def test_env_has_the_address_of_the_client
    assert_equal "127.0.0.1", env_of(http)["REMOTE_ADDR"]
    assert_equal "127.0.0.1", env_of(http, tcp: true)["REMOTE_ADDR"]
    [false, true].each do |frozen|
      seen = nil
      server = serve(tcp: true, frozen_env: frozen) { |env| (seen = env["REMOTE_ADDR"]) && OK }
      TCPSocket.open("127.0.0.1", server.address.port, "127.0.0.2") { |client| client.write(http) && client.read(9) }

      assert_equal "127.0.0.2", seen
    end
  end

  def test_env_has_the_fields_under_their_cgi_names
    env = env_of(http("X-Forwarded-For: 10.0.0.1", "aCCept:*/*", "Content-Type: text/plain", "X-Empty:"))

    assert_equal ["10.0.0.1", "*/*", "text/plain", ""],
                 env.values_at("HTTP_X_FORWARDED_FOR", "HTTP_ACCEPT", "CONTENT_TYPE", "HTTP_X_EMPTY")
    refute_includes env, "HTTP_CONTENT_TYPE"
  end

  def test_a_lane_serves_more_names_than_it_learns
    seen = nil
    server = serve { |env| (seen = env) && OK }
    (0...500).each_slice(100) do |numbers|
      server.raw(http(*numbers.map { |n| "N-#{n}: #{n}" }))

      assert_equal numbers.map { |n| ["HTTP_N_#{n}", n.to_s] }, seen.select { |key, _| key.start_with?("HTTP_N") }.to_a
    end
  end

  def test_a_long_name_is_in_env
    name = "X-#{"long-" * 400}end"

    assert_equal "1", env_of(http("#{name}: 1"))["HTTP_#{name.upcase.tr("-", "_")}"]
  end

  def test_repeated_fields_are_joined
    env = env_of(http("Accept: a", "Cookie: x=1", "ACCEPT: b", "Cookie: y=2", "Accept:", "X-Once: 1"))

    assert_equal ["a, b, ", "x=1; y=2", "1"], env.values_at("HTTP_ACCEPT", "HTTP_COOKIE", "HTTP_X_ONCE")
  end

  def test_a_repeated_field_replaces_a_fixed_value
    base = Support::LaneServer.base_env.merge("HTTP_X_A" => "fixed", "HTTP_X_B" => :fixed)

    assert_equal ["1, 2", "3, 4"],
                 env_of(http("X-A: 1", "X-A: 2", "X-B: 3", "X-B: 4"), env: base).values_at("HTTP_X_A", "HTTP_X_B")
  end

  def test_names_with_an_underscore_are_dropped
    env = env_of(http("X_A: 1", "X-B: 2"))

    assert_equal [nil, "2"], env.values_at("HTTP_X_A", "HTTP_X_B")
  end

  def test_names_that_differ_only_in_underscores_are_joined_if_allowed
    [%w[X-A X_A], %w[X_A X-A], %w[X_A-B X-A_B]].each do |first, second|
      env = env_of(http("#{first}: 1", "#{second}: 2"), settings: { allow_underscore_headers: true })

      assert_equal "1, 2", env["HTTP_#{first.tr("-", "_")}"]
    end
  end

  def test_a_framing_field_with_an_underscore_is_dropped_even_if_allowed
    env = env_of(http("Content_Length: 7", "Content_Type: a", "Transfer_Encoding: gzip", "X: 1"),
                 settings: { allow_underscore_headers: true })

    assert_equal "1", env["HTTP_X"]
    assert_empty env.keys.grep(/CONTENT|TRANSFER/)
  end

  def test_a_client_cannot_set_the_proxy
    assert_empty env_of(http("Proxy: evil:3128", "PROXY: b")).keys.grep(/PROXY\z/)
  end

  def test_the_content_length_of_a_chunked_body_is_its_decoded_length
    env = env_of(http("Transfer-Encoding: chunked", line: "POST / HTTP/1.1",
                                                    body: "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n"))

    assert_equal "5", env["CONTENT_LENGTH"]
    refute_includes env, "HTTP_TRANSFER_ENCODING"
  end

  def test_env_has_the_content_length_under_one_name
    env = env_of(http("Content-Length: 3", line: "POST / HTTP/1.1", body: "abc"))

    assert_equal "3", env["CONTENT_LENGTH"]
    refute_includes env, "HTTP_CONTENT_LENGTH"
    refute_includes env_of(http), "CONTENT_LENGTH"
  end

  def test_env_has_the_values_of_the_base_env
    errors = Object.new
    env = env_of(http, env: { "rack.errors" => errors, "SERVER_SOFTWARE" => "me" })

    assert_same errors, env["rack.errors"]
    assert_equal "me", env["SERVER_SOFTWARE"]
  end

  private

  def scheme_of(env)
    env.values_at("rack.url_scheme", "SERVER_PORT").push(Rack::Request.new(env).url)
  end

  def server_of(env)
    env.values_at("SERVER_NAME", "SERVER_PORT", "HTTP_HOST")
  end
end
