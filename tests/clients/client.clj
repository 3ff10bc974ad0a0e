;; Clojure's own reader and printer against a running daemon: over HTTP and over the EDN stream.
;; Usage: clojure client.clj URL TOKEN BINARY. Exits with 1 and says what differs.

(require '[clojure.edn :as edn] '[clojure.java.io :as io])
(import '(java.net URI)
        '(java.net.http HttpClient HttpRequest HttpRequest$BodyPublishers HttpResponse$BodyHandlers))

(let [[url token binary] *command-line-args*]
  (def url url)
  (def token token)
  (def binary binary))

(def client (HttpClient/newHttpClient))

(defn check [what expected found]
  (when-not (= expected found)
    (println "FAILED:" what "\n  expected" (pr-str expected) "\n  found   " (pr-str found))
    (System/exit 1)))

(defn post [path session form]
  (let [text (binding [*print-namespace-maps* true] (pr-str form))
        request (-> (HttpRequest/newBuilder (URI/create (str url path)))
                    (.header "Authorization" (str "Bearer " token))
                    (.header "Content-Type" "application/edn")
                    (cond-> session (.header "Reveille-Session" session))
                    (.POST (HttpRequest$BodyPublishers/ofString text))
                    .build)
        response (.send client request (HttpResponse$BodyHandlers/ofString))]
    [(.statusCode response) (edn/read-string {:default tagged-literal} (.body response))]))

(defn tool [session args] (post "/tools/psi-tool" session args))

;; A session, opened by a mutation.
(let [[status answer] (post "/eql" nil '[(psi.agent-session/open {:session-id "clj"})])]
  (check "open" 200 status)
  (check "the session" "clj" (get-in answer ['psi.agent-session/open :psi.agent-session/session-id])))

;; Create, list, cancel over HTTP; the text of odd characters comes back as it went.
(def odd "Grüße, \"quoted\" \\ back\nslash \u2028 end")
(let [[status created] (tool "clj" {:action "scheduler" :op "create" :kind "message" :label "build"
                                    :message odd :delay-ms 600000})
      schedule (get-in created [:psi-tool/scheduler :schedule])
      id (:schedule-id schedule)]
  (check "create" 200 status)
  (check "status" :ok (:psi-tool/overall-status created))
  (check "twelve keys" 12 (count schedule))
  (check "the message" odd (:message schedule))
  (let [[_ listed] (tool "clj" {:action "scheduler" :op "list"})]
    (check "list" [id] (mapv :schedule-id (get-in listed [:psi-tool/scheduler :schedules]))))

  ;; The graph, asked with a namespaced map as the entity, printed as #:psi.scheduler{…}.
  (let [request {:pathom/eql [:psi.scheduler/message :psi.scheduler/kind :psi.scheduler/fire-at
                              {:psi.scheduler/runs [:reveille.run/id]}]
                 :pathom/entity {:psi.scheduler/schedule-id id}}
        [status answer] (post "/eql" "clj" request)]
    (check "eql" 200 status)
    (check "by id" odd (:psi.scheduler/message answer))
    (check "an instant" true (inst? (:psi.scheduler/fire-at answer)))
    (check "no run yet" [] (:psi.scheduler/runs answer)))
  (let [[_ answer] (post "/eql" "clj" [:psi.scheduler/pending-count
                                       {:psi.scheduler/schedules [:psi.scheduler/status]}])]
    (check "the root is the session's"
           #:psi.scheduler{:pending-count 1 :schedules [#:psi.scheduler{:status :pending}]} answer))

  (let [[status cancelled] (tool "clj" {:action :scheduler :op :cancel :schedule-id id})]
    (check "cancel" 200 status)
    (check "it holds" :cancelled (get-in cancelled [:psi-tool/scheduler :schedule :status])))
  (let [[status again] (tool "clj" {:action "scheduler" :op "cancel" :schedule-id id})]
    (check "a second cancel is refused" [422 :error] [status (:psi-tool/overall-status again)])
    (check "with its status" :cancelled (get-in again [:psi-tool/error :data :status]))))

;; What is wrong is said in EDN, too.
(check "a malformed query" 400 (first (post "/eql" nil ["text"])))
(check "an unknown attribute" true
       (contains? (second (post "/eql" nil [:no/such])) :com.wsscode.pathom3.error/error-message))

;; The EDN stream: a process that hosts a session, gets its delivery pushed and acknowledges it.
(let [builder (doto (ProcessBuilder. [binary "stdio" "--url" ""]) .inheritIO
                    (.redirectInput java.lang.ProcessBuilder$Redirect/PIPE)
                    (.redirectOutput java.lang.ProcessBuilder$Redirect/PIPE))
      process (.start builder)
      in (java.io.PushbackReader. (io/reader (.getInputStream process)))
      out (io/writer (.getOutputStream process))
      send (fn [form] (.write out (binding [*print-namespace-maps* true] (prn-str form))) (.flush out))
      answer #(edn/read {:default tagged-literal} in)]
  (send {:id 1 :op :host/attach})
  (check "attach" {:id 1 :ok {}} (answer))
  (send {:id 2 :op :session/open :session-config {:session-name "stream"}})
  (let [opened (answer)
        session (get-in opened [:ok :session-id])]
    (check "open" 2 (:id opened))
    (send {:id 3 :op :call :tool "psi-tool" :session-id session
           :args {:action "scheduler" :op "create" :kind "message" :message "wake" :delay-ms 1000}})
    (check "create" :ok (get-in (answer) [:ok :psi-tool/overall-status]))
    (let [push (answer)]
      (check "a push" :delivery (:push push))
      (check "its text" "wake" (get-in push [:message :content 0 :text]))
      (check "its source" :scheduled (get-in push [:message :source]))
      (send {:id 4 :op :delivery/ack :delivery-id (:delivery-id push)})
      (check "ack" {:id 4 :ok {}} (answer)))
    (send {:id 5 :op :eql :query [{:psi.scheduler/schedules [:psi.scheduler/status]}]})
    (check "delivered" {:id 5 :ok #:psi.scheduler{:schedules [#:psi.scheduler{:status :delivered}]}} (answer)))
  (.close out)
  (check "it ends well" 0 (.waitFor process)))

(println "clojure" (clojure-version) "agrees")
(shutdown-agents)
