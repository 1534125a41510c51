# frozen_string_literal: true

require_relative "../support/lane_case"

# With the option frozen_env, requests that have the same value share one frozen String.
class EnvFrozenTest < Support::LaneCase
  SECRETS = %w[HTTP_COOKIE HTTP_AUTHORIZATION].freeze

  def test_values_that_stay_the_same_are_shared
    envs = Array.new(4) { exchange("/p?q", "Accept: text/html", "User-Agent: me") }

    %w[HTTP_ACCEPT HTTP_USER_AGENT HTTP_HOST SERVER_NAME REMOTE_ADDR REQUEST_METHOD].each do |key|
      assert_predicate envs.last[key], :frozen?, key
      assert_same envs[-2][key], envs[-1][key], key
    end
    %w[PATH_INFO REQUEST_URI QUERY_STRING].each do |key|
      refute_predicate envs.last[key], :frozen?, key
      refute_same envs[-2][key], envs[-1][key], key
    end
  end

  def test_secrets_are_never_shared
    envs = Array.new(12) { exchange("/", "Cookie: id=1", "Authorization: Basic x") }

    SECRETS.each do |key|
      assert_equal 12, envs.map { |env| env[key].object_id }.uniq.size, key
      refute_predicate envs.last[key], :frozen?, key
    end
    assert_equal ["id=1", "Basic x"], envs.last.values_at(*SECRETS)
  end

  def test_each_request_has_its_own_values
    numbers = (1..40).to_a
    envs = numbers.map { |n| exchange("/#{n}", "X-Number: #{n}", "X-Half: #{n / 2}", "Cookie: #{n}") }

    assert_equal(numbers.map { |n| ["/#{n}", n.to_s, (n / 2).to_s, n.to_s] },
                 envs.map { |env| env.values_at("PATH_INFO", "HTTP_X_NUMBER", "HTTP_X_HALF", "HTTP_COOKIE") })
  end

  def test_a_lane_learns_a_value_that_has_changed_for_good
    3.times { exchange("/", "X-V: old") }
    7.times { refute_predicate exchange("/", "X-V: new")["HTTP_X_V"], :frozen? }
    exchange("/", "X-V: new")
    env = exchange("/", "X-V: new")

    assert_predicate env["HTTP_X_V"], :frozen?
    assert_equal "new", env["HTTP_X_V"]
  end

  def test_one_stray_value_is_not_learned
    3.times { exchange("/", "X-V: old") }
    shared = exchange("/", "X-V: old")["HTTP_X_V"]
    20.times do
      assert_equal "stray", exchange("/", "X-V: stray")["HTTP_X_V"]
      assert_same shared, exchange("/", "X-V: old")["HTTP_X_V"]
    end
  end

  def test_a_long_value_is_not_shared
    long = "x" * 5000
    env = Array.new(20) { exchange("/", "X-V: #{long}") }.last

    assert_equal long, env["HTTP_X_V"]
    refute_predicate env["HTTP_X_V"], :frozen?
  end

  def test_other_names_and_another_order_have_their_own_values
    requests = [["A: 1", "B: 2"], ["B: 1", "A: 2"], ["A: 3"], ["A: 4", "A: 5"], ["A: 6", "B: 7", "Version: 9"]] * 3
    envs = requests.map { |fields| exchange("/", *fields) }

    assert_equal([%w[1 2], %w[2 1], ["3", nil], ["4, 5", nil], %w[6 7]] * 3,
                 envs.map { |env| env.values_at("HTTP_A", "HTTP_B") })
    refute_includes envs.map { |env| env["HTTP_VERSION"] }, "9"
  end

  def test_env_has_the_method_the_protocol_and_the_host_of_the_request
    server
    3.times do
      assert_equal %w[GET HTTP/1.1 test 80], line_of(exchange("/"))
      assert_equal %w[DELETE HTTP/1.1 test 80], line_of(exchange("/", line: "DELETE / HTTP/1.1"))
      assert_equal %w[GET HTTP/1.0 test 80], line_of(exchange("/", line: "GET / HTTP/1.0"))
      assert_equal %w[GET HTTP/1.1 other 81], line_of(exchange("/", "Host: other:81"))
    end
  end

  def test_a_hundred_shapes_of_requests_are_served
    2.times do
      100.times do |n|
        2.times { assert_equal n.to_s, exchange("/", "X-Shape-#{n}: #{n}")["HTTP_X_SHAPE_#{n}"] }
      end
    end
  end

  def test_rare_names_do_not_replace_frequent_names
    shared = Array.new(4) { exchange("/", "X-Often: 1") }.last["HTTP_X_OFTEN"]
    50.times { |n| exchange("/", "X-Once-#{n}: 1") }

    assert_same shared, exchange("/", "X-Often: 1")["HTTP_X_OFTEN"]
  end

  def test_each_body_has_its_own_length
    3.times do |n|
      body = "x" * n
      env = exchange("/", "Content-Length: #{n}", line: "POST / HTTP/1.1", body: body)

      assert_equal [n.to_s, n], [env["CONTENT_LENGTH"], @body_size]
    end
    env = exchange("/", "Transfer-Encoding: chunked", line: "POST / HTTP/1.1", body: "1\r\nx\r\n0\r\n\r\n")

    assert_equal "1", env["CONTENT_LENGTH"]
  end

  def test_the_shared_values_survive_compaction
    shared = Array.new(4) { exchange("/", "Accept: text/html", "X-Long: #{"long" * 20}") }.last["HTTP_X_LONG"]
    4.times do
      move_objects

      assert_same shared, exchange("/", "Accept: text/html", "X-Long: #{"long" * 20}")["HTTP_X_LONG"]
    end
  end

  private

  def server
    @server ||= serve(frozen_env: true) do |env|
      @body_size = env["rack.input"].size
      @env = env
      OK
    end
  end

  def exchange(target, *fields, line: "GET #{target} HTTP/1.1", body: nil)
    server.raw(http(*fields, line: line, body: body))
    @env
  end

  def line_of(env)
    env.values_at("REQUEST_METHOD", "SERVER_PROTOCOL", "SERVER_NAME", "SERVER_PORT")
  end
end
