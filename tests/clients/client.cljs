;; ClojureScript's reader and printer, in nbb, against a running daemon: over HTTP and over the EDN stream.
;; Usage: nbb client.cljs URL TOKEN BINARY. Exits with 1 and says what differs.

(ns client
  (:require ["node:child_process" :as child]
            ["node:readline" :as readline]
            [clojure.edn :as edn]
            [promesa.core :as p]))

(def args (vec *command-line-args*))
(def url (nth args 0))
(def token (nth args 1))
(def binary (nth args 2))

(defn check [what expected found]
  (when-not (= expected found)
    (println "FAILED:" what "\n  expected" (pr-str expected) "\n  found   " (pr-str found))
    (js/process.exit 1)))

(defn read-edn [text]
  (edn/read-string {:default (fn [tag value] [tag value])} text))

(defn post [path session form]
  (p/let [headers (cond-> {"Authorization" (str "Bearer " token) "Content-Type" "application/edn"}
                    session (assoc "Reveille-Session" session))
          text (binding [*print-namespace-maps* true] (pr-str form))
          response (js/fetch (str url path) (clj->js {:method "POST" :headers headers :body text}))
          body (.text response)]
    [(.-status response) (read-edn body)]))

(defn tool [session args] (post "/tools/psi-tool" session args))

(defn over-http []
  (p/let [[status opened] (post "/eql" nil '[(psi.agent-session/open {:session-id "cljs"})])
          _ (check "open" 200 status)
          _ (check "the session" "cljs" (get-in opened ['psi.agent-session/open :psi.agent-session/session-id]))
          [status created] (tool "cljs" {:action "scheduler" :op "create" :kind "session" :label "review"
                                         :message "Review the night." :delay-ms 600000
                                         :session-config {:session-name "Morning" :thinking-level :high}})
          schedule (get-in created [:psi-tool/scheduler :schedule])
          id (:schedule-id schedule)
          _ (check "create" [200 :session :pending] [status (:kind schedule) (:status schedule)])
          [_ listed] (tool "cljs" {:action "scheduler" :op "list"})
          _ (check "list" 1 (get-in listed [:psi-tool/scheduler :schedule-count]))
          [_ asked] (post "/eql" "cljs" {:pathom/eql [:psi.scheduler/label :psi.scheduler/fire-at]
                                         :pathom/entity {:psi.scheduler/schedule-id id}})
          _ (check "by id" "review" (:psi.scheduler/label asked))
          _ (check "an instant" true (inst? (:psi.scheduler/fire-at asked)))
          [status cancelled] (tool "cljs" {:action "scheduler" :op "cancel" :schedule-id id})
          _ (check "cancel" [200 true] [status (get-in cancelled [:psi-tool/scheduler :cancelled?])])
          [status refused] (tool "cljs" {:action "scheduler" :op "cancel" :schedule-id "sch-none"})]
    (check "an unknown one" [422 {:schedule-id "sch-none" :status nil}]
           [status (get-in refused [:psi-tool/error :data])])))

(defn over-the-stream []
  (p/create
   (fn [resolve _]
     (let [process (child/spawn binary #js ["stdio" "--session" "main" "--url" ""]
                                #js {:stdio #js ["pipe" "pipe" "inherit"]})
           lines (readline/createInterface #js {:input (.-stdout process)})
           send (fn [form]
                  (.write (.-stdin process) (str (binding [*print-namespace-maps* true] (pr-str form)) "\n")))
           steps (atom
                  [#(check "a bare call" :ok (:psi-tool/overall-status %))
                   #(check "a query" {:id 2 :ok {:psi.scheduler/pending-count 1}} %)
                   (fn [answer]
                     (check "subscribed" 3 (:id answer))
                     (.end (.-stdin process)))])]
       (.on lines "line"
            (fn [line]
              (when-let [step (first @steps)]
                (swap! steps (comp vec rest))
                (step (read-edn line)))))
       (.on process "close"
            (fn [code]
              (check "it ends well" 0 code)
              (check "every step" [] @steps)
              (resolve true)))
       (send {:action "scheduler" :op "create" :kind "message" :message "wake" :delay-ms 600000})
       (send {:id 2 :op :eql :query [:psi.scheduler/pending-count]})
       (send {:id 3 :op :subscribe})))))

(p/do
  (over-http)
  (over-the-stream)
  (println "nbb agrees"))
