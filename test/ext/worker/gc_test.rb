# frozen_string_literal: true

require_relative "../support/lane_case"

# Sends requests while the garbage collector runs at every allocation, and while compaction moves objects.
class GcTest < Support::LaneCase
  # Responds with the content of the request. The path selects the kind of body.
  APP = lambda do |env|
    text = [env["REQUEST_METHOD"], env["PATH_INFO"], env["HTTP_X_REPEATED"], env["rack.input"].gets,
            env["rack.input"].read].join(" ")
    parts = text.each_char.to_a
    body = case env["PATH_INFO"]
           when "/array" then parts
           when "/to_ary" then Class.new(Array).new(parts)
           when "/each" then parts.each
           when "/call" then ->(stream) { parts.each { |part| stream << part } && stream.close }
           end
    [200, { "x-array" => %w[a b], :symbol => 1, "x-text" => text.tr("\n", " ") }, body]
  end
  PATHS = %w[/array /to_ary /each /call].freeze

  [{}, { frozen_env: true }].each do |options|
    name = options.keys.first || :plain

    define_method(:"test_requests_survive_compaction_#{name}") do
      exchange = exchanges(serve(APP, **options))
      3.times do
        move_objects
        exchange.call(PATHS)
      end
    end

    define_method(:"test_requests_survive_automatic_compaction_#{name}") do
      under_automatic_compaction do
        exchange = exchanges(serve(APP, **options))
        3.times do
          exchange.call(PATHS)
          GC.start
        end
      end
    end
    next if VALGRIND

    define_method(:"test_requests_survive_gc_stress_#{name}") do
      exchange = exchanges(serve(APP, **options))
      exchange.call(PATHS)
      under_gc_stress { exchange.call(PATHS) }
    end
  end

  def test_the_empty_input_survives_compaction
    server = serve do |env|
      [200, {}, ->(stream) { (stream << stream.read.inspect << env["rack.input"].read.inspect).close }]
    end
    3.times do
      move_objects

      assert_equal '""""', server.get.body
    end
  end

  # Objects of former tests are not counted. Ruby's cache of methods that C code calls keeps singleton methods, and so
  # their tests, until other methods take their places. The Array keeps them all to the end.
  def test_no_object_of_a_request_is_kept
    kinds = [Bontebok::Core::Input, Bontebok::Core::Stream]
    former = kinds.flat_map { |kind| ObjectSpace.each_object(kind).to_a }
    exchange = exchanges(serve(APP, frozen_env: true))
    sizes = Array.new(2) do
      60.times { exchange.call(PATHS) }
      GC.start
      kinds.sum { |kind| ObjectSpace.each_object(kind).count } - former.size
    end

    assert_operator sizes.max, :<, 100
  end

  private

  # Returns a lambda that sends a request for each path, with a new field name each time, and checks the responses.
  def exchanges(server)
    serial = 0
    lambda do |paths|
      paths.each do |path|
        body = "first\n#{"second" * 10}"
        repeated = ["X-Repeated: 1", "X-Repeated: 2", "X-Name-#{serial += 1}: x"]
        response = server.raw(http(*repeated, "Content-Length: #{body.bytesize}", line: "POST #{path} HTTP/1.1",
                                                                                  body: body))

        assert_equal "POST #{path} 1, 2 #{body.sub("\n", "\n ")}", response.body
        assert_equal %w[a b], response.all("x-array")
      end
    end
  end
end
