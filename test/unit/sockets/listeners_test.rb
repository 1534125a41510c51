# frozen_string_literal: true

require "test_helper"
require_relative "../../support/listeners_case"

# Tests how Listeners binds, opens and closes sockets, and removes the files of unix sockets.
class ListenersTest < Support::ListenersCase
  def test_there_are_at_most_64_listeners
    assert_equal 64, listeners(*["127.0.0.1:0"] * 64).to_a.size
    assert_fails("cannot listen on more than 64 addresses") { listeners(*["127.0.0.1:0"] * 65) }
  end

  def test_the_core_gets_its_own_descriptor
    listener = listening("127.0.0.1:0").first
    copy = Socket.for_fd(listener.descriptor)
    listener.close
    assert_equal listener.server_port, copy.local_address.ip_port
    assert_predicate copy, :close_on_exec?
  ensure
    copy&.close
  end

  def test_disowning_closes_the_descriptor_of_the_core_as_well
    listener = listening("127.0.0.1:0").first
    descriptor = listener.descriptor
    listener.disown
    assert_raises(Errno::EBADF) { IO.for_fd(descriptor) }
    assert_raises(Errno::ECONNREFUSED) { Support::Client.open(listener.to_s) }
  end

  def test_disowning_does_not_close_a_file_that_got_the_number_of_the_descriptor
    listener = listening("127.0.0.1:0").first
    IO.for_fd(descriptor = listener.descriptor).close
    other, writer = IO.pipe
    assert_equal descriptor, other.fileno
    listener.disown
    writer.write("still here")
    assert_equal "still here", other.readpartial(100)
  ensure
    [other, writer].compact.each(&:close)
  end

  def test_bind_binds_all_addresses_or_none
    taken = listening("127.0.0.1:0").first.to_s
    both = listeners("unix:#{temp_dir}/a.sock", taken)
    assert_fails("cannot listen on #{taken}: Address already in use by this process") { both.bind }
    assert_equal [], Dir.children(temp_dir)
    assert(both.all? { |listener| listener.socket.closed? })
  end

  # The next configuration can name the host, or the port that the kernel chose.
  def test_an_address_with_another_name_keeps_its_socket
    former = listening("127.0.0.1:0")
    port = former.first.server_port
    names = Bontebok::HostNames::Table.new({ "name:#{port}" => ["127.0.0.1"] })
    ["127.0.0.1:#{port}", "name:#{port}"].each do |address|
      config = Bontebok::Config.new({ listen: [address, "127.0.0.1:0"] }, env: {})
      kept, added = former.next(config, names).to_a
      assert_same former.first, kept
      assert_nil added.socket
    end
  end

  def test_a_bind_without_free_descriptors_fails
    require "bontebok/bontebok"
    failures = (0..9).map { |room| with_descriptors(room) { failure_to_bind } }
    assert_includes failures, "cannot create the workers' shared queue and scoreboard: Too many open files"
    assert_nil failures.last
    assert(@opened[..-2].any? { |all| all.first.socket&.closed? })
  end

  def test_closed_listeners_leave_no_file
    both = listening("unix:#{temp_dir}/a.sock", "unix:#{temp_dir}/b.sock")
    Process.wait(fork { exit!(both.close.nil?) })
    assert_equal ["a.sock", "b.sock"], Dir.children(temp_dir).sort
    both.close
    assert_equal [], Dir.children(temp_dir)
  end

  # If the server cannot remove one file, it must still remove the other files.
  def test_a_file_that_cannot_be_removed_is_logged
    directory = File.join(temp_dir, "run")
    Dir.mkdir(directory)
    both = listening("unix:#{directory}/a.sock", "unix:#{temp_dir}/b.sock")
    File.rename(directory, "#{directory}.was")
    File.symlink(directory, directory)
    both.unlink
    assert_match(/ warn \d+ \S+ \S+ cannot remove unix:#{directory}.a.sock: Too many levels of symbolic links$/,
                 @log.first.readline)
    refute_path_exists File.join(temp_dir, "b.sock")
  end

  private

  # Returns the message of the failure, or nil if bind succeeds.
  def failure_to_bind
    listeners("127.0.0.1:0").bind && nil
  rescue Bontebok::StartError => e
    e.message
  end

  # Runs the block while only `room` more descriptors can be opened.
  def with_descriptors(room)
    limit = Process.getrlimit(:NOFILE)
    Process.setrlimit(:NOFILE, File.open(File::NULL, &:fileno) + room, limit.last)
    yield
  ensure
    Process.setrlimit(:NOFILE, *limit)
  end
end
