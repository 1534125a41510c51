# frozen_string_literal: true

require_relative "process_tree"

# Tests include this module if they must know the fate of every request. Clients send requests as fast as they get
# responses. Each request has its own id. KEPT clients keep their connection, and FRESH clients open a new connection
# for each request. The application first writes the id and the worker's pid to the file `begun`, then responds with
# both.
module AskingCrowd
  include ProcessTree

  KEPT = 20
  FRESH = 8
  # kept: the request was sent on a kept connection. owner: pid of the worker that sent the previous response on this
  # connection, or nil for the first request of the connection. answered_by: pid of the worker that answered this
  # request, or nil if the request was lost.
  Fate = Struct.new(:id, :kept, :owner, :answered_by, keyword_init: true) do
    def lost? = answered_by.nil?
    def moved? = !lost? && !owner.nil? && owner != answered_by
  end

  # Returns the text of a rackup file. seconds: a Ruby expression, the time that the application sleeps.
  def application_of(seconds)
    <<~RUBY
      BEGUN = File.open("begun", "a")
      run(lambda do |env|
        id = env["PATH_INFO"].delete("/")
        BEGUN.syswrite("\#{id} \#{Process.pid}\\n")
        sleep(#{seconds})
        [200, {}, ["\#{id} \#{Process.pid}"]]
      end)
    RUBY
  end

  # The clients send requests while the block runs. Returns the fates of all requests.
  def asking(server)
    @fates = Queue.new
    @passed = 0
    @stopped = false
    clients = Array.new(KEPT) { |number| Thread.new { keep_asking(server, "kept#{number}") } } +
              Array.new(FRESH) { |number| Thread.new { ask_on_new_connections(server, "fresh#{number}") } }
    yield
    @stopped = true
    clients.each(&:join)
    Array.new(@fates.size) { @fates.pop }
  ensure
    @stopped = true
    clients&.each(&:kill)
  end

  # Counts requests that were answered by another worker than the previous request of the connection. The count may be
  # too low.
  attr_reader :passed

  # Returns { id => pid of the worker that has begun the request }. Fails if a request was begun twice.
  def begun
    pairs = File.readlines(File.join(temp_dir, "begun")).map { |line| line.split.then { |id, pid| [id, pid.to_i] } }
    assert_empty(pairs.map(&:first).tally.select { |_id, times| times > 1 })
    pairs.to_h
  end

  # Returns the numbers of descriptors of the supervisor, the master and each worker, or nil if a process has just
  # ended.
  def descriptors(server)
    [server.pid, master(server).pid, *workers(server)].map { |pid| Dir.children("/proc/#{pid}/fd").size }
  rescue Errno::ENOENT
    nil
  end

  # There may be fewer descriptors than before, because a garbage collection may have closed files.
  def assert_no_more_descriptors(server, before)
    eventually("as few descriptors as before: #{before}", seen: -> { "now: #{descriptors(server)}" }) do
      descriptors(server)&.zip(before)&.all? { |now, once| now <= once }
    end
  end

  private

  def keep_asking(server, name)
    client = owner = nil
    (0..).each do |number|
      break if @stopped

      client ||= Support::Client.new(server.address)
      owner = ask(client, Fate.new(id: "#{name}-#{number}", kept: true, owner: owner))
      client = client.close if owner.nil?
    end
    assert_no_more_responses(client) if client
  ensure
    client&.close
  end

  def ask_on_new_connections(server, name)
    (0..).each do |number|
      break if @stopped

      server.connect { |client| ask(client, Fate.new(id: "#{name}-#{number}", kept: false)) }
    end
  end

  # The connection has ended if its worker was killed after the last response.
  def assert_no_more_responses(client)
    assert_empty client.read_to_end, "a response that no client has asked for" unless client.quiet?(0)
  rescue Support::Client::Reset
    assert_empty client.take
  end

  # Returns the pid of the worker that has answered, or nil if the connection was closed without a response.
  def ask(client, fate)
    client.request("GET", "/#{fate.id}")
    id, pid = client.read_response.body.split
    assert_equal fate.id, id
    fate.answered_by = pid.to_i
    @passed += 1 if fate.moved?
    fate.answered_by
  rescue Support::Client::Closed
    nil
  ensure
    @fates << fate
  end
end
