# frozen_string_literal: true

require_relative "process_tree"

# For tests of what becomes of many requests: clients that ask as fast as they are answered, each request with an id of
# its own. KEPT of them keep their connection, FRESH open a new one for each request. The application answers with the
# id and its worker's pid, and notes both in the file `begun` before.
module AskingCrowd
  include ProcessTree

  KEPT = 20
  FRESH = 8
  # kept: on a connection that is kept; owner: the worker that has answered on it last, nil when nobody has.
  Fate = Struct.new(:id, :kept, :owner, :answered_by, keyword_init: true) do
    def lost? = answered_by.nil?
    def moved? = !lost? && !owner.nil? && owner != answered_by
  end

  # seconds: how long it sleeps, an expression.
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

  # They ask while the block runs. Returns the fates of all requests.
  def asking(server)
    @fates = Queue.new
    @relays = 0
    @stopped = false
    clients = Array.new(KEPT) { |number| Thread.new { keep_asking(server, "kept#{number}") } } +
              Array.new(FRESH) { |number| Thread.new { ask_anew(server, "fresh#{number}") } }
    yield
    @stopped = true
    clients.each(&:join)
    Array.new(@fates.size) { @fates.pop }
  ensure
    @stopped = true
    clients&.each(&:kill)
  end

  # So many requests at least were answered by somebody else than who had the connection.
  attr_reader :relays

  # { id => pid of who has begun with it }. One that is begun twice is an error.
  def begun
    pairs = File.readlines(File.join(temp_dir, "begun")).map { |line| line.split.then { |id, pid| [id, pid.to_i] } }
    assert_empty(pairs.map(&:first).tally.select { |_id, times| times > 1 })
    pairs.to_h
  end

  # Of supervisor, master and each worker; nil while one of them comes or goes.
  def descriptors(server)
    [server.pid, master(server).pid, *workers(server)].map { |pid| Dir.children("/proc/#{pid}/fd").size }
  rescue Errno::ENOENT
    nil
  end

  # A collection of garbage may have closed what was open before.
  def assert_no_more_descriptors(server, before)
    eventually(10, "as few descriptors as before: #{before}", seen: -> { "now: #{descriptors(server)}" }) do
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
    assert_no_more_answers(client) if client
  ensure
    client&.close
  end

  def ask_anew(server, name)
    (0..).each do |number|
      break if @stopped

      server.connect { |client| ask(client, Fate.new(id: "#{name}-#{number}", kept: false)) }
    end
  end

  # There is an end if its worker was killed after it had answered.
  def assert_no_more_answers(client)
    assert_empty client.read_to_end, "an answer that nobody has asked for" unless client.quiet?(0)
  rescue Support::Client::Reset
    assert_empty client.take
  end

  # Returns the pid of who has answered, nil when nobody has.
  def ask(client, fate)
    client.request("GET", "/#{fate.id}")
    id, pid = client.read_response.body.split
    assert_equal fate.id, id
    fate.answered_by = pid.to_i
    @relays += 1 if fate.moved?
    fate.answered_by
  rescue Support::Client::Closed
    nil
  ensure
    @fates << fate
  end
end
