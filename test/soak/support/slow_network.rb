# frozen_string_literal: true

require "socket"

# Two network namespaces that are connected by two TUN devices. This class carries the packets from one device to the
# other, with a delay. It needs root, /dev/net/tun, and the commands unshare, nsenter and ip.
class SlowNetwork
  # Runs in a namespace. Creates the device, and sends its descriptor to the socket with the descriptor 3. The numbers
  # are TUNSETIFF, and IFF_TUN | IFF_NO_PI.
  DEVICE = <<~'RUBY'
    tun = File.open("/dev/net/tun", "r+b")
    tun.ioctl(0x400454ca, ["tun0", 0x1001].pack("a16S").ljust(40, "\0"))
    ["addr add #{ARGV.first}/24 dev tun0", "link set tun0 up", "link set lo up"].each do |words|
      system("ip", *words.split, exception: true)
    end
    UNIXSocket.for_fd(3).send_io(tun)
  RUBY
  # The largest packet of a device with the default MTU is smaller.
  PACKET = 65_536
  ADDRESSES = %w[10.99.0.1 10.99.0.2].freeze

  def self.possible?
    Process.uid.zero? && File.writable?("/dev/net/tun") && system("unshare", "--net", "true", %i[out err] => File::NULL)
  end

  # delay: seconds in each direction.
  def initialize(delay)
    @delay = delay
    @holders = Array.new(2) { hold }
    first, second = ADDRESSES.each_index.map { |index| open_device(index) }
    @threads = carry(first, second) + carry(second, first)
  end

  # The start of a command that runs in the namespace with the first or second address (index 0 or 1).
  def inside(index)
    ["nsenter", "--net=/proc/#{@holders[index].pid}/ns/net"]
  end

  def close
    @threads.each(&:kill).each(&:join)
    @holders.each(&:close)
  end

  private

  # A process that keeps a namespace until its standard input ends. It says when the namespace exists.
  def hold
    IO.popen(["unshare", "--net", "sh", "-c", "echo; exec cat"], "r+").tap(&:gets)
  end

  def open_device(index)
    ours, theirs = UNIXSocket.pair
    pid = spawn(*inside(index), RbConfig.ruby, "-rsocket", "-e", DEVICE, ADDRESSES[index], 3 => theirs)
    theirs.close
    ours.recv_io(File).tap { |device| device.sync = true }
  ensure
    Process.wait(pid)
    ours.close
  end

  def carry(from, to)
    packets = Queue.new
    [Thread.new { loop { packets << [now + @delay, from.readpartial(PACKET)] } },
     Thread.new { loop { packets.pop.then { |time, packet| deliver(packet, to, time) } } }]
  end

  def deliver(packet, device, time)
    rest = time - now
    sleep(rest) if rest.positive?
    device.syswrite(packet)
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
