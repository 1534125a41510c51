# frozen_string_literal: true

require "open3"
require_relative "../support/lane_case"

# The values of an env. A value from the request is a new, unfrozen, binary String. A fixed value is one frozen String.
# An application may change its env. The next request must not see the change.
class EnvValuesTest < Support::LaneCase
  FIELDS = ["Cookie: a=b", "Accept: */*", "Content-Type: text/plain", "X-Own: 1"].freeze
  # Pairs of a target and a Host field. Host has a port of its own, no port, or the listener's port. In the last pair,
  # the target's authority replaces Host.
  SERVERS = [["/path", "example.org:81"], ["/path", "example.org"], ["/path", "localhost:80"],
             ["http://localhost/path", "example.org:81"]].freeze
  FIXED = %w[SERVER_SOFTWARE SERVER_PROTOCOL SCRIPT_NAME rack.url_scheme QUERY_STRING].freeze

  def test_a_fixed_value_is_one_frozen_string
    first, second = two_envs(http(*FIELDS))

    FIXED.each do |key|
      assert_predicate first[key], :frozen?, key
      assert_same first[key], second[key], key
    end
  end

  def test_a_value_from_the_request_is_new_and_unfrozen
    SERVERS.each do |target, host|
      first, second = two_envs(http("Host: #{host}", *FIELDS, line: "PUT #{target}?query HTTP/1.1"), tcp: true)

      (strings(first).keys - FIXED - ["HTTP_VERSION"] + ["QUERY_STRING"]).each do |key|
        refute_predicate first[key], :frozen?, key
        refute_same first[key], second[key], key
      end
    end
  end

  def test_a_value_from_the_listener_is_one_frozen_string
    first, second = two_envs("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")

    %w[SERVER_NAME SERVER_PORT REMOTE_ADDR].each do |key|
      assert_predicate first[key], :frozen?, key
      assert_same first[key], second[key], key
    end
  end

  def test_a_changed_value_does_not_show_in_the_next_request
    [{}, { frozen_env: true }].product(SERVERS) do |options, (target, host)|
      fields = ["Host: #{host}", *FIELDS, "Content-Length: 2"]
      envs = envs_of(http(*fields, line: "PUT #{target}?q HTTP/1.1", body: "ab"), 20, **options) do |env|
        strings(env).each_value { |value| value.replace("changed") unless value.frozen? }
        env["SCRIPT_NAME"] = "/changed"
        env.delete("REQUEST_METHOD")
        env.default = "changed"
        env.compare_by_identity if env.size.even?
      end

      assert_equal 1, envs.uniq.size
    end
  end

  def test_every_string_is_binary
    [{}, { frozen_env: true }].each do |options|
      envs = envs_of(http(*FIELDS, "X-Text: \xe4\xc3\xa4", line: "GET /\xe4?\xff HTTP/1.1"), 3, **options)

      strings(envs.last).each { |key, value| assert_equal Encoding::BINARY, value.encoding, key }
      assert_equal "\xe4\xc3\xa4".b, envs.last["HTTP_X_TEXT"]
    end
  end

  # Ruby sets the default encodings when a process starts, so this test starts a process.
  def test_default_encodings_change_nothing
    program = <<~RUBY
      require "test_helper"
      require "ext/support/lane_case"
      class Encodings < Support::LaneCase
        def test_it
          env = env_of(http("X-Text: \\xc3\\xa4", "Content-Length: 2", line: "PUT /\\xe4 HTTP/1.1", body: "\\xc3\\xa4"))
          assert_equal [Encoding::BINARY], env.values.grep(String).map(&:encoding).uniq
          assert_equal Encoding::BINARY, env["rack.input"].external_encoding
        end
      end
    RUBY
    output, status = Open3.capture2e(Gem.ruby, "-E", "ISO-8859-1:UTF-8",
                                     "-I", File.join(ROOT, "test"), "-e", program)

    assert_predicate status, :success?, output
    assert_match(/1 runs, 2 assertions, 0 failures, 0 errors/, output)
  end

  private

  def strings(env)
    env.select { |_, value| value.is_a?(String) }
  end

  # Sends the same request `count` times on one connection. Returns the envs as they were before the block changed them.
  def envs_of(bytes, count, **options, &change)
    envs = []
    server = serve(**options) do |env|
      envs << (change ? copy_of(env) : env)
      change&.call(env)
      OK
    end
    server.connect do |client|
      count.times do
        client.write(bytes)
        client.read_response
      end
    end
    envs
  end

  # Returns a copy without rack.input and without the queue time. The queue time depends on the load of the machine.
  def copy_of(env)
    env.except("rack.input", "bontebok.queue_time").transform_values { |value| value.is_a?(String) ? value.dup : value }
  end

  def two_envs(bytes, **options)
    envs_of(bytes, 2, **options)
  end
end
