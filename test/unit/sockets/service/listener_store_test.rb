# frozen_string_literal: true

require "test_helper"
require "bontebok/sockets/adopted_sockets"
require "bontebok/sockets/service/listener_store"
require "bontebok/sockets/service/service_manager"
require_relative "../../../support/listeners_case"
require_relative "../../../support/notify_socket"

# Tests the store of a service manager: what a server stores, the next server gets back as its own listeners.
class ListenerStoreTest < Support::ListenersCase
  def setup
    super
    @socket = Support::NotifySocket.new(File.join(temp_dir, "notify"))
    @store = store
  end

  def teardown
    super
    @socket.close
  end

  def test_listeners_come_back_as_they_were
    server = listening("127.0.0.1:0", "unix:#{path = "#{temp_dir}/ä,b:c%.sock"}", "unix:@#{path}")
    @store.keep(server)
    assert(@socket.store.keys.all? { |name| name.match?(/\A[!-9;-~]+\z/) })
    server.each(&:give_away)
    again = recall
    assert_equal server.map(&:address), again.map(&:address)
    assert_equal server.map(&:to_s), again.map(&:to_s)
    again[1].unlink
    refute_path_exists path
  end

  def test_shared_listeners_come_back_as_shared_listeners
    server = listening("127.0.0.1:0", "unix:#{temp_dir}/a", reuse_port: ["true"])
    @store.keep(server)
    assert(recall.all?(&:shared?))
    assert_equal server.map(&:class), recall.map(&:class)
  end

  def test_only_changes_are_told
    server = listening("127.0.0.1:0", "unix:#{temp_dir}/a")
    2.times { @store.keep(server) }
    assert_equal 2, @socket.messages.size
    @store.keep(server.drop_while { |listener| !listener.address.unix? })
    assert_equal ["bontebok,unix%3A#{temp_dir}/a,own,#{file_of("#{temp_dir}/a")}"], @socket.store.keys
    @store.keep([])
    assert_empty @socket.store
    assert_equal 4, @socket.messages.size
    assert_equal "0", @socket.messages.first["FDPOLL"]
  end

  # The service manager removes all descriptors of a name.
  def test_two_listeners_of_one_name_are_dropped_once
    server = listening("127.0.0.1:0", "127.0.0.1:0")
    @store.keep(server)
    @store.keep([])
    assert_equal(%w[FDSTORE FDSTORE FDSTOREREMOVE], @socket.messages.map { |fields| fields.keys.first })
  end

  def test_a_listener_that_another_program_has_passed_is_not_stored
    server = listening("127.0.0.1:0").first
    server.define_singleton_method(:origin) { "systemd" }
    @store.keep([server])
    assert_empty @socket.messages
  end

  def test_a_unix_socket_without_its_file_is_closed
    server = listening("unix:#{temp_dir}/a", "unix:#{temp_dir}/b")
    @store.keep(server)
    server.each(&:give_away)
    server.each(&:close)
    File.unlink("#{temp_dir}/a")
    File.unlink("#{temp_dir}/b")
    temp_file("b")
    assert_empty recall
    assert_empty @socket.store
    assert_path_exists "#{temp_dir}/b"
  end

  def test_other_descriptors_are_left
    entries = ["web", nil, "bontebok", "bontebok,a", "bontebok,a,b,c,d"].map { |name| entry(99, name) }
    expected = entries.dup
    assert_empty @store.recall(entries)
    assert_equal expected, entries
  end

  def test_a_descriptor_that_is_not_open_is_an_error
    error = assert_raises(Bontebok::StartError) { @store.recall([entry(9999, "bontebok,127.0.0.1%3A80,own")]) }
    assert_equal "systemd: descriptor 9999 is not a listening TCP or unix socket", error.message
  end

  private

  def store
    Bontebok::ListenerStore.new(Bontebok::ServiceManager.take({ "NOTIFY_SOCKET" => @socket.path }))
  end

  def entry(fileno, name)
    Bontebok::AdoptedSockets::Entry.new(fileno, "systemd", name)
  end

  def file_of(path)
    stat = File.lstat(path)
    "#{stat.dev},#{stat.ino}"
  end

  # What the next server gets. It owns the descriptors.
  def recall
    entries = @socket.store.map do |name, socket|
      entry(socket.dup.tap { |copy| copy.autoclose = false }.fileno, name)
    end
    store.recall(entries).tap { assert_empty entries }
  end
end
