# frozen_string_literal: true

require_relative "../support/lane_case"

# Core::Public and Worker#public: the directories of the option `public`.
class ExtPublicTest < Support::LaneCase
  Core = Bontebok::Core
  HEADERS = "/ X-From: file\n/a X-Longer: yes"

  def setup
    super
    temp_file("files/a.txt", "the file\n")
    @directory = "#{temp_dir}/files"
  end

  def test_files_come_before_the_application
    server = serve(public: open_public) { [200, {}, ["the application"]] }
    response = server.get("/a.txt")

    assert_equal ["the file\n", "file", "yes"], [response.body, response["X-From"], response["X-Longer"]]
    assert_equal "the application", server.get("/b.txt").body
    assert_equal "the application", server.request("POST", "/a.txt", {}, "x").body
  end

  # The name leads to other files later, as after a deploy.
  def test_the_directory_stays_open
    public = open_public
    File.rename(@directory, "#{@directory}.old")
    temp_file("files/a.txt", "another\n")

    assert_equal "the file\n", serve(public: public) { OK }.get("/a.txt").body
  end

  def test_without_directories_all_requests_reach_the_application
    public = Core::Public.new({ public_headers: HEADERS })

    assert_equal "ok", serve(public: public) { OK }.get("/a.txt").body
  end

  def test_a_wrong_setting_is_told
    { { public: "/proc/none" } => "public: /proc/none: No such file or directory",
      { public: "#{@directory}/a.txt" } => "public: #{@directory}/a.txt: Not a directory",
      { public: "#{@directory}/ä" } => "public: #{@directory}/ä: No such file or directory",
      { public: "/", public_headers: "/ Date: x" } => "public_headers: / Date: x: the server sets this field itself" }
      .each do |settings, message|
        assert_equal message, assert_raises(ArgumentError) { Core::Public.new(settings) }.message
      end
  end

  def test_objects_of_other_classes_and_closed_ones_are_refused
    worker = Core::Worker.new
    [nil, 1, Core::Worker.new].each { |object| assert_raises(TypeError) { worker.public(object) } }
    [open_public.tap(&:close), Core::Public.allocate].each do |object|
      assert_raises(RuntimeError) { worker.public(object) }
    end
    public = open_public
    assert_raises(RuntimeError) { public.send(:initialize, {}) }
    worker.public(public)
    assert_raises(RuntimeError) { worker.public(public) }
    worker.close
  end

  # The lanes may be the last that use them.
  def test_the_directories_are_open_until_the_last_user_is_closed
    worker = Core::Worker.new
    worker.public(public = open_public)
    lane = Core::Lane.new(worker, ->(_env) { OK }, report: nil)
    public.close

    assert_equal 1, open_count
    worker.close

    assert_equal 1, open_count
    lane.close

    assert_equal 0, open_count
  end

  def test_the_garbage_collector_closes_them
    3.times { open_public }

    assert(eventually("the end of all but the last objects") { GC.start || open_count < 3 })
  end

  def test_objects_survive_gc_stress
    skip "GC.stress" if VALGRIND
    under_gc_stress do
      worker = Core::Worker.new
      worker.public(open_public)
      assert_raises(ArgumentError) { Core::Public.new({ public: "/proc/none" }) }
      worker.close
    end

    assert(eventually("the end of the object") { GC.start || open_count.zero? })
  end

  private

  def open_public
    Core::Public.new({ public: @directory, public_headers: HEADERS })
  end

  # The number of this process's descriptors of the directory.
  def open_count(pid = Process.pid)
    Support::ProcessTable.descriptors(pid).values.count(File.realpath(@directory))
  end
end
