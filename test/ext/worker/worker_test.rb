# frozen_string_literal: true

require_relative "../support/lane_case"

# Core::Worker: its settings, its listeners, and how its objects are freed.
class WorkerTest < Support::LaneCase
  Core = Bontebok::Core

  def test_the_settings_are_listed_with_their_defaults
    assert_predicate Core::SETTINGS, :frozen?
    assert_equal [16_384, 75_000, 1], Core::SETTINGS.values_at(:max_target, :keepalive_timeout, :chunked_transfer)
    assert(Core::SETTINGS.all? { |name, value| name.is_a?(Symbol) && value.is_a?(Integer) })
  end

  def test_all_settings_are_accepted
    assert Core::Worker.new(Core::SETTINGS.merge(spool_dir: temp_dir, server_name: "x"))
    assert Core::Worker.new({ chunked_transfer: true, allow_underscore_headers: false })
  end

  def test_settings_have_an_effect
    server = serve(settings: { max_target: 20, server_name: "the-server" }) { OK }

    assert_equal 414, server.get("/#{"x" * 30}").status
    assert_equal "the-server", server.get["Server"]
    server.reports
  end

  def test_wrong_settings_raise
    numbers = [-1, -(1 << 70), "1", 1.5, nil].map { |value| { max_target: value } } << { chunked_transfer: 2 }
    texts = [{ spool_dir: "/#{"x" * 300}" }, { spool_dir: "a\0b" }, { server_name: "x" * 64 }, { server_name: "x\ny" }]
    [{ unknown: 1 }, *numbers, *texts].each do |settings|
      assert_raises(ArgumentError, settings.inspect) { Core::Worker.new(settings) }
    end
    [1, { "max_target" => 1 }, { server_name: 1 }].each do |settings|
      assert_raises(TypeError) { Core::Worker.new(settings) }
    end
    assert_raises(RangeError) { Core::Worker.new(max_target: 1 << 70) }
  end

  def test_the_message_names_the_setting_and_its_fault
    { { unknown: 1 } => "unknown is no setting", { server_name: "x" * 64 } => "server_name must have at most 63 bytes",
      { body_timeout: 1 << 40 } => "body_timeout must be a time of at most a year" }.each do |settings, message|
      assert_equal message, assert_raises(ArgumentError) { Core::Worker.new(settings) }.message
    end
  end

  def test_a_descriptor_that_is_no_socket_raises
    worker = Core::Worker.new
    IO.pipe do |reader, _|
      assert_raises(SystemCallError) { worker.listen(reader.fileno, "localhost", 80) }
    end
    assert_raises(Errno::EBADF) { worker.listen(1 << 20, "localhost", 80) }
  end

  def test_an_argument_may_close_the_worker
    { listen: %w[localhost 80], share_queue: [1], tell: ["abcd"], out_of_band_after: [], show_detached: [true] }
      .each do |method, others|
        worker = Core::Worker.new
        number = Object.new
        number.define_singleton_method(:to_int) { worker.close || 1 }

        assert_raises(RuntimeError, method) { worker.public_send(method, number, *others) }
      end
  end

  def test_each_listener_has_its_own_number_and_name
    (first, address), (second, other_address) = [unix_listener, tcp_listener]
    worker = Core::Worker.new
    numbers = [[first, "one.test", 1], [second, "two.test", "2"]].map do |listener, name, port|
      listener.autoclose = false
      worker.listen(listener.fileno, name, port)
    end
    app = ->(env) { [200, {}, [env.values_at("SERVER_NAME", "SERVER_PORT", "REMOTE_ADDR").join(" ")]] }
    lane = Core::Lane.new(worker, app, report: ->(*) {})
    thread = Thread.new { lane.serve }

    assert_equal [0, 1], numbers
    assert_equal(["one.test 1 127.0.0.1", "two.test 2 127.0.0.1"], [address, other_address].map do |where|
      Support::Client.body_from(where)
    end)
  ensure
    worker.drain
    thread&.join
  end

  def test_objects_that_are_not_initialized_exactly_once_raise
    assert_raises(RuntimeError) { Core::Worker.allocate.drain }
    assert_raises(RuntimeError) { Core::Worker.new.send(:initialize) }
    assert_raises(RuntimeError) { Core::Lane.new(Core::Worker.allocate, OK, report: nil) }
  end

  def test_objects_can_be_freed_in_any_order
    program = 'require "bontebok/bontebok"; 100.times { $kept = Array.new(5) { Bontebok::Core::Lane.new(' \
              "Bontebok::Core::Worker.new, nil, report: nil) }; Bontebok::Core::Worker.new; GC.start }"

    assert system(Gem.ruby, *$LOAD_PATH.flat_map { |directory| ["-I", directory] }, "-e", program)
  end

  def test_the_descriptors_of_freed_objects_are_closed
    2.times { Core::Lane.new(Core::Worker.new, nil, report: nil) && GC.start }
    before = Dir.children("/proc/self/fd").size
    20.times { Core::Lane.new(Core::Worker.new, nil, report: nil) }
    GC.start

    assert_operator Dir.children("/proc/self/fd").size, :<, before + 20
  end

  def test_the_size_of_objects_is_reported
    require "objspace"
    worker = Core::Worker.new
    lanes = [false, true].map { |frozen| Core::Lane.new(worker, nil, report: nil, frozen_env: frozen) }
    sizes = lanes.map { |lane| ObjectSpace.memsize_of(lane) }

    assert_operator sizes[0], :>, 2000
    assert_operator sizes[1], :>, sizes[0] + 10_000
    assert_operator ObjectSpace.memsize_of(worker), :>, 40
  end
end
